# SPDX-License-Identifier: MIT
## Configure
B ?= build
CFLAGS ?= -O2 -g
PKGS := libsystemd json-c sqlite3 inih
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
	-Wundef -Wvla -Wimplicit-fallthrough -Wno-unused-parameter -Wno-missing-field-initializers
ALL_CPPFLAGS := -D_GNU_SOURCE -I. -I$(B)/gen $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(WARN) $(if $(WERROR),-Werror) -fno-omit-frame-pointer $(if $(SAN),-fsanitize=$(SAN)) \
	-pthread $(shell pkg-config --cflags $(PKGS)) $(CFLAGS) $(EXTRA_CFLAGS)
LIBS = $(shell pkg-config --libs $(PKGS)) -pthread
Q := $(if $(V),,@)

## Build: one static library for each room, so that a test links no more than its room may use
ROOMS := common core kernel store api sinks manager client
SRC_common := $(wildcard common/*.c)
SRC_core := $(wildcard daemon/core/*.c)
SRC_kernel := $(wildcard daemon/kernel/*.c)
SRC_store := $(wildcard daemon/store/*.c)
SRC_api := $(wildcard daemon/api/*.c)
SRC_sinks := $(wildcard daemon/sinks/*.c)
SRC_manager := $(filter-out daemon/main.c,$(wildcard daemon/*.c))
SRC_client := $(filter-out client/main.c,$(wildcard client/*.c))
objs = $(patsubst %.c,$(B)/%.o,$(1))
lib = $(B)/lib$(1).a
DAEMON_LIBS := $(foreach r,manager sinks api store kernel core common,$(call lib,$(r)))
CLIENT_LIBS := $(foreach r,client common,$(call lib,$(r)))

all: $(B)/mountwatchd $(B)/mountwatch

define room
$(call lib,$(1)): $(call objs,$(SRC_$(1)))
	@echo "[ AR ] $$@"
	$(Q)rm -f $$@; ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "[ CC ] $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/common/varlink_description.o: common/io.mountwatch.varlink

$(B)/mountwatchd: $(call objs,daemon/main.c) $(DAEMON_LIBS)
	@echo "[ LD ] $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(call objs,daemon/main.c) $(DAEMON_LIBS) $(LIBS)
$(B)/mountwatch: $(call objs,client/main.c) $(CLIENT_LIBS)
	@echo "[ LD ] $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(call objs,client/main.c) $(CLIENT_LIBS) $(LIBS)

## Test: tests/unit/ROOM/test_x.c links ROOM, what it may use, and cmocka
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
$(B)/tests/unit/$(1)/test_%: $(B)/tests/unit/$(1)/test_%.o $(foreach r,$(USES_$(1)),$(call lib,$(r)))
	@echo "[ LD ] $$@"
	$(Q)$$(CC) $$(ALL_CFLAGS) $$(LDFLAGS) -o $$@ $$^ $(if $(filter core,$(1)),,$$(LIBS)) -lcmocka
endef
$(foreach r,$(ROOMS),$(eval $(call unit,$(r))))
.SECONDARY:

check-unit: $(UNIT_BIN)
	@set -e; for t in $^; do echo "[ RUN ] $$t"; $$t; done

clean:
	rm -rf $(B) build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all check-unit clean
