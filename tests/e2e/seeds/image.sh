# Sourced by the seed_*.sh tests after lib.sh: local images under the names that the source documents use, made of what this
# machine has.  Nothing is downloaded.
#
#	R=$(seed_root)                    # a root file system with busybox
#	seed_program "$R" /bin/bash       # with a program of this machine and its libraries
#	seed_image main mypaddle/paddle:quickstart "$R"

# seed_root: makes one and prints its path.
seed_root() {
	local root
	root=$(mktemp -d "$T/root-XXXXXX")
	chmod 755 "$root"
	mkdir -p "$root/bin" "$root/usr/bin" "$root/etc"
	printf 'root:x:0:0::/root:/bin/sh\n' >"$root/etc/passwd"
	cp "$(command -v busybox)" "$root/bin/busybox"
	"$root/bin/busybox" --list | while read -r applet; do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
	echo "$root"
}
# seed_program ROOT PROGRAM: the program at its own place, and the libraries it is linked to.
seed_program() {
	local root=$1 file
	for file in "$2" $(ldd "$2" | grep -oE '/[^ ]+'); do
		mkdir -p "$root$(dirname "$file")"
		rm -f "$root$file" # busybox may have this name, too
		cp -L "$file" "$root$file"
	done
}
# seed_python ROOT: /usr/bin/python with its standard library.
seed_python() {
	local root=$1 python
	python=$(readlink -f /usr/bin/python3)
	seed_program "$root" "$python"
	ln -s "$(basename "$python")" "$root/usr/bin/python"
	tar -C / -c --exclude=__pycache__ --exclude='config-*' --exclude=test --exclude=idlelib --exclude=lib2to3 \
		"usr/lib/$(basename "$python")" | tar -C "$root" -x
}
# seed_text EXAMPLE NAME: a program out of a ConfigMap of examples/.
seed_text() {
	awk -v key="  $2: |" '$0 == key { on = 1; next } on && !/^(    |$)/ { exit } on { print substr($0, 5) }' "$ROOT/examples/$1"
}
# seed_image SERVER NAME ROOT: an image of these files in the store of a server.
seed_image() {
	local d layer config
	d=$(mktemp -d "$T/layout-XXXXXX")
	mkdir -p "$d/blobs/sha256"
	tar -C "$3" --owner=0 --group=0 -cf "$d/layer" .
	layer=$(seed_blob "$d" layer layer.v1.tar)
	printf '{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/usr/bin:/bin"]},"rootfs":{"type":"layers","diff_ids":["%s"]}}' \
		"$(jq -r .digest <<<"$layer")" >"$d/config"
	config=$(seed_blob "$d" config config.v1+json)
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
		"$config" "$layer" >"$d/manifest"
	printf '{"schemaVersion":2,"manifests":[%s]}' "$(seed_blob "$d" manifest manifest.v1+json)" >"$d/index.json"
	printf '{"imageLayoutVersion":"1.0.0"}' >"$d/oci-layout"
	"$STOKER" image import "$d" --name "$2" --data "$T/$1/data" -q
	rm -rf "$d"
}
# seed_blob LAYOUT FILE TYPE: moves the file among the blobs and prints its descriptor.
seed_blob() {
	local sum size
	sum=$(sha256sum "$1/$2" | cut -d' ' -f1) size=$(stat -c %s "$1/$2")
	mv "$1/$2" "$1/blobs/sha256/$sum"
	printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d}' "$3" "$sum" "$size"
}
