#!/bin/bash
# A disk that fills: reads and deletes go on, writes are refused by name, and all is well again when there is room.
. "$(dirname "$0")/lib.sh"

mkdir -p "$T/disk"
truncate -s 24M "$T/image"
if mkfs.ext4 -q -m 0 "$T/image" 2>"$T/mkfs" && mount -o loop "$T/image" "$T/disk" 2>>"$T/mkfs"; then
	MOUNTS+=("$T/disk")
elif mount -t tmpfs -o size=20m stoker-e2e "$T/disk" 2>>"$T/mkfs"; then
	MOUNTS+=("$T/disk")
else
	fail "a small file system can be mounted" "$(cat "$T/mkfs")"
	done_testing
fi
helper disk_full "$T/disk" "$T/home-full"
done_testing
