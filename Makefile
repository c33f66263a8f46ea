# SPDX-License-Identifier: MIT
# make help tells the targets. Nothing is looked up while this file is read, so that `make deps` works on a bare machine.

## Configure
SAN ?=
comma := ,
B ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
CFLAGS ?= -O2 -g
PKGS := libsystemd libseccomp json-c sqlite3 inih libcrypto
# its headers only: sinks/curl_library loads it when it is needed
HEADER_PKGS := libcurl
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
	-Wundef -Wvla -Wimplicit-fallthrough -Wno-unused-parameter -Wno-missing-field-initializers
# looked up when first used, and once
once = $(eval $(1) := $(2))$($(1))
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(shell pkg-config --cflags $(PKGS) $(HEADER_PKGS)))
PKG_LIBS = $(call once,PKG_LIBS,$(shell pkg-config --libs $(PKGS)))
ALL_CPPFLAGS := -D_GNU_SOURCE -I. -I$(B)/gen $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(WARN) $(if $(WERROR),-Werror) -fno-omit-frame-pointer \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all) -pthread $(PKG_CFLAGS) $(CFLAGS) $(EXTRA_CFLAGS)
# the guard in the kernel (daemon/kernel/bpf): yes needs clang and libbpf, no leaves it out, auto looks
BPF ?= no
BPF_ON := $(if $(filter auto,$(BPF)),$(shell clang --version >/dev/null 2>&1 && pkg-config --exists libbpf && echo yes),$(filter yes,$(BPF)))
LIBS = $(PKG_LIBS) $(if $(BPF_ON),-Wl$(comma)--push-state$(comma)--as-needed -lbpf -Wl$(comma)--pop-state) -pthread
# the client alone
CLIENT_PKG_LIBS = $(call once,CLIENT_PKG_LIBS,$(shell pkg-config --libs ncursesw))
Q := $(if $(V),,@)

# where install puts things; DESTDIR goes before all of them
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/mountwatch
USERUNITDIR ?= $(call systemd_dir,systemduserunitdir,/usr/lib/systemd/user)
AUTOSTARTDIR ?= $(SYSCONFDIR)/xdg/autostart
BASHCOMPDIR ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR ?= $(DATADIR)/fish/vendor_completions.d
SYSCONFDIR ?= /etc
systemd_dir = $(or $(shell pkg-config --variable=$(1) systemd 2>/dev/null),$(2))
SYSTEMUNITDIR ?= $(call systemd_dir,systemdsystemunitdir,/lib/systemd/system)
SYSUSERSDIR ?= $(call systemd_dir,sysusersdir,/usr/lib/sysusers.d)
CATALOGDIR ?= $(call systemd_dir,catalogdir,/usr/lib/systemd/catalog)

COMPLETIONS := $(foreach s,bash zsh fish,$(B)/completion/mountwatch.$(s))
all: $(B)/mountwatchd $(B)/mountwatch $(COMPLETIONS)

help:
	@echo 'make [all]          build/mountwatch and build/mountwatchd'
	@echo 'make demo           installs what is missing, builds, shows a leaking test suite being caught (root)'
	@echo 'make check          installs what is missing, runs every check (root; parts that cannot run say why)'
	@echo 'make check-unit check-system check-cases check-fuzz check-install check-man analyze     the parts'
	@echo 'make check-vm       the service in guests with SMB, NFS, sshfs on several kernels (root, qemu)'
	@echo 'make bench          measures beside fatrace, inotifywait, auditd, fapolicyd where installed (root)'
	@echo 'make fuzz           each fuzz target for FUZZ_SECONDS=60'
	@echo 'make deps           installs the packages that are missing (Debian), says which are (elsewhere)'
	@echo 'make install uninstall     DESTDIR= PREFIX=$(PREFIX) SYSCONFDIR=$(SYSCONFDIR)'
	@echo 'BPF=yes            with the guard in the kernel (clang, libbpf), auto: where these are'
	@echo 'SAN=address,undefined WERROR=1 V=1 B=FOLDER change how it is built'

deps:
	@tests/deps.sh build test

## Build: one static library for each room, so that a test links no more than its room may use
ROOMS := common core kernel store api sinks manager client
SRC_common := $(wildcard common/*.c)
SRC_core := $(wildcard daemon/core/*.c)
SRC_kernel := $(filter-out $(if $(BPF_ON),daemon/kernel/bpf_none.c,daemon/kernel/bpf_engine.c \
	daemon/kernel/bpf_watch.c daemon/kernel/bpf_read.c),$(wildcard daemon/kernel/*.c))
SRC_store := $(wildcard daemon/store/*.c)
SRC_api := $(wildcard daemon/api/*.c)
SRC_sinks := $(wildcard daemon/sinks/*.c)
SRC_manager := $(filter-out daemon/main.c,$(wildcard daemon/*.c))
SRC_client := $(filter-out client/main.c,$(wildcard client/*.c))
objs = $(patsubst %.c,$(B)/%.o,$(1))
lib = $(B)/lib$(1).a
DAEMON_LIBS := $(foreach r,manager sinks api store kernel core common,$(call lib,$(r)))
CLIENT_LIBS := $(foreach r,client common,$(call lib,$(r)))

define room
$(call lib,$(1)): $(call objs,$(SRC_$(1)))
	@echo "[ AR ] $$@"
	$(Q)rm -f $$@; ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

# its program, as bytes between two symbols: nothing to be found, or to be out of step, at run time
ifneq ($(BPF_ON),)
$(call lib,kernel): $(B)/daemon/kernel/bpf/guard.o
endif
$(B)/daemon/kernel/bpf/guard.bpf.o: daemon/kernel/bpf/guard.bpf.c daemon/kernel/bpf/guard_record.h $(B)/flags
	@mkdir -p $(@D)
	@echo "[ BPF] $<"
	$(Q)clang -O2 -g -target bpf -Wall $(if $(WERROR),-Werror) -I. -I/usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<
$(B)/daemon/kernel/bpf/guard.o: $(B)/daemon/kernel/bpf/guard.bpf.o
	$(Q)printf '.section .rodata\n.balign 8\n.globl bpf_guard_object\nbpf_guard_object:\n.incbin "%s"\n.globl bpf_guard_object_end\nbpf_guard_object_end:\n.section .note.GNU-stack,"",@progbits\n' \
		$< | $(CC) -x assembler -c -o $@ -

# objects are made anew when the flags change
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(BPF_ON)' | cmp -s - $@ || \
		printf '%s\n' '$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(BPF_ON)' >$@

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@echo "[ CC ] $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/common/varlink_description.o: common/io.mountwatch.varlink

link = $(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@
$(B)/mountwatchd: $(call objs,daemon/main.c) $(DAEMON_LIBS)
	@echo "[ LD ] $@"
	$(link) $(call objs,daemon/main.c) $(DAEMON_LIBS) $(LIBS)
$(B)/mountwatch: $(call objs,client/main.c) $(CLIENT_LIBS)
	@echo "[ LD ] $@"
	$(link) $(call objs,client/main.c) $(CLIENT_LIBS) $(LIBS) $(CLIENT_PKG_LIBS)

# what --help knows, for shells
$(COMPLETIONS): $(B)/completion/mountwatch.%: $(B)/mountwatch
	@echo "[ GEN ] $@"
	@mkdir -p $(@D)
	$(Q)$(B)/mountwatch completion $* >$@.new && mv $@.new $@

## Test: every part goes through tests/run, which counts; tests/check.sh sums them up
CHECK_SAN := address,undefined
SAN_B := $(B)-$(subst $(comma),-,$(CHECK_SAN))
SAN_MAKE = $(MAKE) --no-print-directory B=$(SAN_B) SAN=$(CHECK_SAN)
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
PARTS := unit system cases fuzz unit-san system-san format tidy cppcheck shellcheck install man
C_FILES := $(wildcard common/*.[ch] client/*.[ch] daemon/*.[ch] daemon/*/*.[ch] tests/*/*.[ch] tests/unit/*/*.[ch])
SH_FILES := $(wildcard .ci/run tests/*.sh tests/run tests/private tests/*/*.sh tests/*/run)

check:
	@tests/deps.sh build test
	+@tests/check.sh "$(MAKE) --no-print-directory $(JOBS)" $(PARTS)

# tests/unit/ROOM/test_x.c links ROOM, what it may use, the helpers beside it (other names) and cmocka
UNIT := $(wildcard tests/unit/*/test_*.c)
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT))
USES_common := common
USES_core := core common
USES_kernel := kernel core common
USES_store := store core common
USES_api := api core common
USES_sinks := sinks core common
USES_manager := manager sinks api store kernel core common
USES_client := client common
define unit
$(B)/tests/unit/$(1)/test_%: $(B)/tests/unit/$(1)/test_%.o \
	$(call objs,$(filter-out $(UNIT),$(wildcard tests/unit/$(1)/*.c))) $(foreach r,$(USES_$(1)),$(call lib,$(r)))
	@echo "[ LD ] $$@"
	$$(link) $$(filter %.o %.a,$$^) $(if $(filter core,$(1)),,$$(LIBS)) -lcmocka
endef
$(foreach r,$(ROOMS),$(eval $(call unit,$(r))))
.SECONDARY:

check-unit: $(UNIT_BIN)
	@tests/run $(if $(SAN),unit-san,unit) tap $^
check-system: all
	@MW_BIN=$(B) tests/run $(if $(SAN),system-san,system) script $(or $(TESTS),$(wildcard tests/system/test_*.sh))
check-cases: all
	@MW_BIN=$(B) tests/run cases cases $(or $(CASES),$(CASE_FILES))
check-unit-san:
	+@$(SAN_MAKE) check-unit
check-system-san:
	+@$(SAN_MAKE) check-system
# the developers' set of reproduction cases when it lies beside the checkout, else the copy of it
CASE_FILES = $(or $(sort $(wildcard ../shared/cases/[0-9]*)),$(sort $(wildcard tests/cases/[0-9]*)))

# guests with real shares: needs qemu, builds images of a few gigabytes outside of the checkout, takes minutes
check-vm: all
	@B=$(B) TESTS="$(TESTS)" tests/vm/run.sh

check-install: all
	@tests/run install script tests/install.sh
check-man:
	@tests/run man script tests/man.sh

check-format:
	@tests/run format tool clang-format --dry-run -Werror $(C_FILES)
check-tidy:
	@MW_TIMEOUT=1800 tests/run tidy script tests/tidy.sh
check-cppcheck:
	@tests/run cppcheck script tests/cppcheck.sh
check-shellcheck:
	@tests/run shellcheck tool shellcheck -x $(SH_FILES)
analyze: check-format check-tidy check-cppcheck check-shellcheck

## Fuzz: tests/fuzz/fuzz_x.c, its corpus in tests/fuzz/corpus/x
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60
FUZZ_B := $(B)-fuzz
FUZZ_LIBS := $(call lib,client) $(DAEMON_LIBS)

check-fuzz:
	+@$(SAN_MAKE) fuzz-replay
fuzz-replay: $(FUZZ:%=$(B)/tests/fuzz/replay_%)
	@tests/run fuzz tap $^
$(B)/tests/fuzz/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay.o $(FUZZ_LIBS)
	@echo "[ LD ] $@"
	$(link) $(filter %.o,$^) $(FUZZ_LIBS) $(LIBS)

fuzz:
	+@$(MAKE) --no-print-directory B=$(FUZZ_B) CC=clang SAN=fuzzer-no-link,address,undefined fuzz-build
	@tests/fuzz/run.sh $(FUZZ_B) $(FUZZ_SECONDS) $(FUZZ)
fuzz-build: $(FUZZ:%=$(B)/tests/fuzz/fuzz_%)
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_LIBS)
	@echo "[ LD ] $@"
	$(link) -fsanitize=fuzzer,address,undefined $(filter %.o,$^) $(FUZZ_LIBS) $(LIBS)

## Show and measure
demo:
	@tests/deps.sh build demo
	+@$(MAKE) --no-print-directory $(JOBS) all
	@tests/demo/demo.sh $(B)

bench:
	@tests/deps.sh build bench
	+@$(MAKE) --no-print-directory $(JOBS) all $(B)/tests/bench/bare_reader $(B)/tests/bench/writer \
		$(B)/tests/bench/bench_hold $(B)/tests/bench/bench_guard
	@tests/bench/bench.py --bin $(B)
# the guard against the least that a supervisor can do: tests/bench/bench_guard [CALLS]
$(B)/tests/bench/bench_guard: $(call objs,tests/bench/bench_guard.c) $(foreach r,kernel core common,$(call lib,$(r)))
	@echo "[ LD ] $@"
	$(link) $(filter %.o %.a,$^) $(LIBS)
# the store alone: tests/bench/bench_store DIR [OPERATIONS]
$(B)/tests/bench/bench_store: $(call objs,tests/bench/bench_store.c) $(foreach r,store core common,$(call lib,$(r)))
	@echo "[ LD ] $@"
	$(link) $(filter %.o %.a,$^) $(LIBS)
# what a held open costs a bystander
$(B)/tests/bench/bench_hold: $(call objs,tests/bench/bench_hold.c) $(foreach r,kernel core common,$(call lib,$(r)))
	@echo "[ LD ] $@"
	$(link) $(filter %.o %.a,$^) $(LIBS)
$(B)/tests/bench/%: tests/bench/%.c $(B)/flags
	@mkdir -p $(@D)
	@echo "[ CC ] $<"
	$(link) $(ALL_CPPFLAGS) $<

## Packaging: copies files and nothing else
MAN1 := docs/man/mountwatch.1
MAN5 := docs/man/mountwatch.conf.5
MAN7 := docs/man/mountwatch-api.7
MAN8 := docs/man/mountwatchd.8
DOCS := README.md docs/architecture.md docs/matrix.md docs/journal.md docs/webhooks.md docs/alert.schema.json
UNITS := mountwatch.service mountwatch.socket mountwatch-metrics.service mountwatch-metrics.timer
D = $(DESTDIR)
fill = sed 's|@BINDIR@|$(BINDIR)|g; s|@SBINDIR@|$(SBINDIR)|g; s|@SYSCONFDIR@|$(SYSCONFDIR)|g'

install: all
	install -d $(D)$(BINDIR) $(D)$(SBINDIR) $(D)$(MANDIR)/man1 $(D)$(MANDIR)/man5 $(D)$(MANDIR)/man7 $(D)$(MANDIR)/man8 \
		$(D)$(DOCDIR)/fleet $(D)$(DATADIR)/mountwatch $(D)$(SYSTEMUNITDIR) $(D)$(SYSUSERSDIR) $(D)$(CATALOGDIR) \
		$(D)$(SYSCONFDIR)/mountwatch
	install -m 755 $(B)/mountwatch $(D)$(BINDIR)/mountwatch
	install -m 755 $(B)/mountwatchd $(D)$(SBINDIR)/mountwatchd
	install -m 644 $(MAN1) $(D)$(MANDIR)/man1
	install -m 644 $(MAN5) $(D)$(MANDIR)/man5
	install -m 644 $(MAN7) $(D)$(MANDIR)/man7
	install -m 644 $(MAN8) $(D)$(MANDIR)/man8
	install -m 644 $(DOCS) LICENSE $(D)$(DOCDIR)
	install -m 644 docs/fleet/* $(D)$(DOCDIR)/fleet
	install -m 644 common/io.mountwatch.varlink $(D)$(DATADIR)/mountwatch
	install -d $(D)$(BASHCOMPDIR) $(D)$(ZSHCOMPDIR) $(D)$(FISHCOMPDIR)
	install -m 644 $(B)/completion/mountwatch.bash $(D)$(BASHCOMPDIR)/mountwatch
	install -m 644 $(B)/completion/mountwatch.zsh $(D)$(ZSHCOMPDIR)/_mountwatch
	install -m 644 $(B)/completion/mountwatch.fish $(D)$(FISHCOMPDIR)/mountwatch.fish
	for u in $(UNITS); do $(fill) systemd/$$u >$(D)$(SYSTEMUNITDIR)/$$u; chmod 644 $(D)$(SYSTEMUNITDIR)/$$u; done
	install -d $(D)$(USERUNITDIR) $(D)$(AUTOSTARTDIR)
	$(fill) systemd/mountwatch-agent.service >$(D)$(USERUNITDIR)/mountwatch-agent.service
	$(fill) systemd/mountwatch-agent.desktop >$(D)$(AUTOSTARTDIR)/mountwatch-agent.desktop
	chmod 644 $(D)$(USERUNITDIR)/mountwatch-agent.service $(D)$(AUTOSTARTDIR)/mountwatch-agent.desktop
	install -m 644 systemd/mountwatch.sysusers $(D)$(SYSUSERSDIR)/mountwatch.conf
	install -m 644 systemd/mountwatch.catalog $(D)$(CATALOGDIR)
	[ -e $(D)$(SYSCONFDIR)/mountwatch/mountwatch.conf ] || \
		install -m 644 systemd/mountwatch.conf $(D)$(SYSCONFDIR)/mountwatch/mountwatch.conf

# the configuration stays when it was changed
uninstall:
	rm -f $(D)$(BINDIR)/mountwatch $(D)$(SBINDIR)/mountwatchd
	rm -f $(D)$(MANDIR)/man1/$(notdir $(MAN1)) $(D)$(MANDIR)/man5/$(notdir $(MAN5))
	rm -f $(D)$(MANDIR)/man7/$(notdir $(MAN7)) $(D)$(MANDIR)/man8/$(notdir $(MAN8))
	rm -rf $(D)$(DOCDIR) $(D)$(DATADIR)/mountwatch
	rm -f $(D)$(BASHCOMPDIR)/mountwatch $(D)$(ZSHCOMPDIR)/_mountwatch $(D)$(FISHCOMPDIR)/mountwatch.fish
	rm -f $(UNITS:%=$(D)$(SYSTEMUNITDIR)/%) $(D)$(SYSUSERSDIR)/mountwatch.conf $(D)$(CATALOGDIR)/mountwatch.catalog
	rm -f $(D)$(USERUNITDIR)/mountwatch-agent.service $(D)$(AUTOSTARTDIR)/mountwatch-agent.desktop
	cmp -s systemd/mountwatch.conf $(D)$(SYSCONFDIR)/mountwatch/mountwatch.conf && \
		rm $(D)$(SYSCONFDIR)/mountwatch/mountwatch.conf || true
	[ ! -d $(D)$(SYSCONFDIR)/mountwatch ] || rmdir --ignore-fail-on-non-empty $(D)$(SYSCONFDIR)/mountwatch

## Cleanup
clean:
	rm -rf $(B) $(SAN_B) $(FUZZ_B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all help deps check check-unit check-system check-cases check-unit-san check-system-san check-install check-man check-vm \
	check-format check-tidy check-cppcheck check-shellcheck check-fuzz fuzz-replay fuzz fuzz-build analyze demo bench \
	install uninstall clean FORCE
