# Stoker: a thin front for meson.  `make demo` and `make test` are all a new machine needs.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: all demo test bench install check format fuzz crash clean deps

all: $(BUILD)/.sources
	@ninja -C $(BUILD) stoker

# Configure when there is no build yet, and again when a file has come or gone.
$(BUILD)/.sources: FORCE
	@command -v meson >/dev/null && pkg-config --exists jansson libevent_openssl yaml-0.1 sqlite3 libcurl || tools/bootstrap build
	@find src tests meson.build tests/meson.build \( -name '*.c' -o -name meson.build \) | LC_ALL=C sort > .sources.new; \
	if [ ! -f $(BUILD)/build.ninja ]; then meson setup $(BUILD) --prefix $(PREFIX) >/dev/null || { meson setup $(BUILD) --prefix $(PREFIX); exit 1; }; \
	elif ! cmp -s .sources.new $@; then meson setup --reconfigure $(BUILD) >/dev/null; fi; \
	mv .sources.new $@
FORCE:

demo:
	@tools/bootstrap demo
	@$(MAKE) --no-print-directory all
	@tools/demo

test:
	@tools/bootstrap test
	@tools/run-tests

bench:
	@tools/bootstrap bench
	@$(MAKE) --no-print-directory all
	@tools/bench

install: all
	@meson install -C $(BUILD) --no-rebuild

check:
	@tools/check

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

fuzz:
	@tools/fuzz

crash: all
	@tools/crash

clean:
	@rm -rf build build-asan build-clang
