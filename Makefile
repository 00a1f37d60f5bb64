# Stoker: a thin front for meson.  `make demo` and `make test` are all a new machine needs.
BUILD ?= build
PREFIX ?= /usr/local
# PBS_PREFIX=s stands before the names of the PBS commands, on machines that have another PBS: sqsub.  It stays until another
# one, or an empty one, is given: whoever installs again must not put his commands over the others'.

.PHONY: all demo test bench install uninstall check format fuzz crash clean FORCE

all: $(BUILD)/.sources
	@ninja -C $(BUILD)

# Configure when there is no build yet, and again when a file has come or gone.
$(BUILD)/.sources: FORCE
	@tools/bootstrap check || tools/bootstrap build
	@find src tests meson.build \( -name '*.c' -o -name meson.build \) | LC_ALL=C sort > .sources.new; \
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

# DESTDIR is meson's own: it stands in the environment.  The prefix is the one asked for now, whatever the build was made with.
install: export DESTDIR := $(DESTDIR)
install: all
	@meson setup --reconfigure $(BUILD) --prefix $(PREFIX) $(if $(filter undefined,$(origin PBS_PREFIX)),,-Dpbs_prefix=$(PBS_PREFIX)) >/dev/null
	@meson install -C $(BUILD) --no-rebuild

uninstall:
	@ninja -C $(BUILD) uninstall

check: all
	@tools/run-tests layers size format docs clang

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

fuzz:
	@tools/fuzz

crash: all
	@tools/crash

clean:
	@rm -rf build build-asan build-clang
