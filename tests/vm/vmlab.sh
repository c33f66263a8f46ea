#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # functions are called by name
# vmlab.sh - boot a small Debian guest with systemd, Samba, NFS and sshfs, run a
# script in it as root, and exit with the script's exit status.
#
#   vmlab.sh deps                     install the host packages the lab needs
#   vmlab.sh build [-f] [KERNEL...]   make the cached guest image and kernels
#   vmlab.sh run [OPTIONS] SCRIPT [FILES...]
#   vmlab.sh list                     show what the cache holds
#
# KERNEL is a Debian suite whose kernel is taken: bookworm (the default),
# bookworm-backports, trixie, trixie-backports. The user space of the guest is
# always $BASE_SUITE. Packages come from the archive that the host's own apt
# configuration names.
#
# Options of run:
#   -k KERNEL   which kernel to boot            (default: $VMLAB_KERNEL or bookworm)
#   -a ACCEL    kvm, tcg or auto                (default: $VMLAB_ACCEL or auto)
#   -t SECONDS  kill the guest after this long  (default: $VMLAB_TIMEOUT or 300)
#   -m MIB      guest memory                    (default: 1024)
#   -o DIR      where the guest's $VMLAB_OUT is unpacked
#   -c FILE     where the guest's console log is kept
#
# VMLAB_CACHE is where images are kept (default: ~/.cache/vmlab), VMLAB_EXTRA_PACKAGES
# a comma-separated list of packages that build adds to the guest, VMLAB_APPEND
# text for the kernel's command line.
#
# In the guest SCRIPT runs in a folder that also holds FILES (a folder is copied
# with all it holds). What the script prints comes out of run as it is printed;
# what it writes under $VMLAB_OUT comes back with -o. The guest has a loopback
# interface and no other, and its disk is discarded at the end of the run.
# Services are installed but not started: the script starts what it needs.
#
# Exit status of run: the script's own; 124 the time ran out; 125 the guest ended
# without reporting one (panic, no boot); 2 wrong usage.
set -euo pipefail

CACHE=${VMLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vmlab}
BASE_SUITE=bookworm
HOST_PACKAGES=(qemu-system-x86 mmdebstrap busybox-static cpio e2fsprogs kmod xz-utils zstd)
GUEST_PACKAGES=(
    systemd systemd-sysv dbus udev kmod iproute2 procps util-linux mount
    samba smbclient cifs-utils nfs-kernel-server nfs-common rpcbind
    sshfs fuse3 openssh-server openssh-client
    e2fsprogs xfsprogs btrfs-progs attr acl strace liburing2
    # what mountwatch and its tests need
    python3 sqlite3 libjson-c5 libsqlite3-0 libinih1 libseccomp2 libcurl4 libncursesw6
)
# Drivers the initrd loads to reach the disks; the rest is loaded by udev later.
BOOT_MODULES=(virtio_pci virtio_blk virtio_console virtio_rng ext4)
ROOT_SIZE=4G
OUTPUT_SIZE=512M

die() { printf 'vmlab: %s\n' "$1" >&2; exit "${2:-1}"; }
say() { printf 'vmlab: %s\n' "$*" >&2; }

# ---------------------------------------------------------------- packages ---

cmd_deps() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        install -y --no-install-recommends "${HOST_PACKAGES[@]}"
}

# The archive URI the host uses for the release named by BASE_SUITE.
archive_uri() {
    apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
        awk -v suite="$BASE_SUITE" '$1 == suite { print $2; exit }'
}

# The "deb" lines of the host for BASE_SUITE, its updates and its security fixes.
base_sources() {
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) main' 'Created-By: Packages' |
        awk -v suite="$BASE_SUITE" '
            $3 == suite || $3 == suite "-updates" || $3 == suite "-security"' | sort -u
}

# apt_for SUITE COMMAND...: run an apt tool on the package lists of SUITE alone.
apt_for() {
    local suite=$1 tool=$2; shift 2
    local dir=$CACHE/apt/$suite
    "$tool" -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$dir/lists" -o APT::Sandbox::User=root "$@"
}

prepare_apt() {
    local suite=$1 dir=$CACHE/apt/$1 uri
    uri=$(archive_uri)
    [ -n "$uri" ] || die "no $BASE_SUITE archive in the apt configuration (run apt-get update once)"
    mkdir -p "$dir/lists/partial"
    if [ "$suite" = "$BASE_SUITE" ]; then base_sources; else printf 'deb %s %s main\n' "$uri" "$suite"; fi \
        >"$dir/sources.list"
    apt_for "$suite" apt-get -qq update || die "the archive has no suite $suite"
}

# The real packages behind linux-image-cloud-amd64: newer kernels split the
# image and its modules into several.
kernel_packages() {
    local suite=$1 image
    image=$(apt_for "$suite" apt-cache depends linux-image-cloud-amd64 |
        awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }')
    printf '%s\n' "$image"
    apt_for "$suite" apt-cache depends "$image" |
        awk '$1 == "Depends:" && $2 ~ /^linux-(base|binary|modules)-[0-9]/ { print $2 }'
}

# ------------------------------------------------------------------- build ---

build_kernel() {
    local suite=$1 dir=$CACHE/kernel-$1 work pkg version
    [ -e "$dir/version" ] && return
    prepare_apt "$suite"
    work=$(mktemp -d "$CACHE/work.XXXXXX")
    mkdir "$work/tree"
    for pkg in $(kernel_packages "$suite"); do
        (cd "$work" && apt_for "$suite" apt-get -qq download "$pkg")
    done
    for pkg in "$work"/*.deb; do dpkg-deb -x "$pkg" "$work/tree"; done

    # Modules are under /lib or /usr/lib, the image in /boot or beside them.
    local modules kernel
    modules=$(find "$work/tree" -type d -path '*/lib/modules/*' -prune | head -n 1)
    version=$(basename "$modules")
    kernel=$(find "$work/tree" -type f \( -name "vmlinuz-$version" -o -path "*/$version/vmlinuz" \) | head -n 1)
    [ -n "$kernel" ] || die "no kernel image in the packages of $suite"
    mkdir -p "$work/base/lib/modules" "$work/out"
    mv "$kernel" "$work/out/vmlinuz"
    mv "$modules" "$work/base/lib/modules/$version"
    depmod -b "$work/base" "$version"
    make_initrd "$work/base" "$version" "$work/initrd" >"$work/out/initrd"
    mke2fs -q -t ext4 -O ^has_journal -m 0 -L modules -d "$work/base/lib/modules" \
        "$work/out/modules.img" 400M
    printf '%s\n' "$version" >"$work/out/version"
    rm -rf "$dir"
    mv "$work/out" "$dir"
    rm -rf "$work"
    say "kernel $version ready"
}

# make_initrd BASE VERSION SCRATCH: write a compressed cpio archive that loads
# the disk drivers, mounts the root file system and the modules, and starts init.
make_initrd() {
    local base=$1 version=$2 tree=$3 module file name
    mkdir -p "$tree"/{bin,dev,proc,sys,root,modules}
    cp /bin/busybox "$tree/bin/busybox"
    ln -s busybox "$tree/bin/sh"
    for module in "${BOOT_MODULES[@]}"; do
        modprobe -d "$base" -S "$version" --show-depends "$module" 2>/dev/null |
            awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++' | while read -r file; do
        name=$(basename "$file")
        case $file in
        *.xz) xz -dc "$file" >"$tree/modules/${name%.xz}" ;;
        *.zst) zstd -qdc "$file" >"$tree/modules/${name%.zst}" ;;
        *) cp "$file" "$tree/modules/$name" ;;
        esac
        name=${name%.xz}
        printf '%s\n' "${name%.zst}"
    done >"$tree/modules/order"
    cat >"$tree/init" <<'INIT'
#!/bin/sh
export PATH=/bin
busybox mount -t devtmpfs dev /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
while read -r m; do busybox insmod "/modules/$m"; done </modules/order
disk() {
    for s in /sys/block/vd*/serial; do
        [ "$(busybox cat "$s")" = "$1" ] || continue
        s=${s%/serial}
        echo "/dev/${s##*/}"
    done
}
tries=0
while [ -z "$(disk root)" ] && [ $tries -lt 100 ]; do busybox usleep 50000; tries=$((tries + 1)); done
busybox mount -t ext4 -o rw,noatime "$(disk root)" /root || exec busybox poweroff -f
busybox mount -t ext4 -o ro "$(disk modules)" /root/usr/lib/modules
busybox umount /proc /sys
exec busybox switch_root /root /sbin/init
INIT
    chmod +x "$tree/init"
    (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1)
}

build_rootfs() {
    [ -e "$CACHE/root.img" ] && return
    local work include
    work=$(mktemp -d "$CACHE/work.XXXXXX")
    include=$(IFS=,; printf '%s' "${GUEST_PACKAGES[*]}${VMLAB_EXTRA_PACKAGES:+,$VMLAB_EXTRA_PACKAGES}")
    mkdir "$work/overlay"
    write_guest_files "$work/overlay"
    base_sources >"$work/sources"
    [ -s "$work/sources" ] || die "no $BASE_SUITE archive in the apt configuration (run apt-get update once)"
    mmdebstrap --quiet --variant=minbase --include="$include" \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --customize-hook="sync-in '$work/overlay' /" \
        --customize-hook='chroot "$1" sh /usr/local/lib/vmlab/setup' \
        "$BASE_SUITE" "$work/root" - <"$work/sources"
    mke2fs -q -t ext4 -O ^has_journal -m 0 -L root -d "$work/root" "$work/root.img" "$ROOT_SIZE"
    mv "$work/root.img" "$CACHE/root.img"
    rm -rf "$work"
    say "root file system ready"
}

# The files that turn the Debian root into the lab guest.
write_guest_files() {
    local top=$1
    mkdir -p "$top/usr/local/lib/vmlab" "$top/etc/systemd/system"
    cat >"$top/etc/systemd/system/vmlab-run.service" <<'UNIT'
[Unit]
Description=Run the script handed to the lab guest
Wants=dbus.service
After=basic.target dbus.service systemd-logind.service

[Service]
Type=oneshot
ExecStart=/usr/local/lib/vmlab/run
TimeoutStartSec=infinity
StandardOutput=null
StandardError=journal+console

[Install]
WantedBy=multi-user.target
UNIT
    cat >"$top/usr/local/lib/vmlab/run" <<'RUN'
#!/bin/bash
# Unpack the input disk, run the script, report its output and status, power off.
ports=/dev/virtio-ports
disks=/dev/disk/by-id
udevadm settle --timeout=30
mkdir -p /vmlab/in /vmlab/out
tar -C /vmlab/in -xf $disks/virtio-input
cd /vmlab/in || exit 1
export HOME=/root LANG=C.UTF-8 VMLAB_OUT=/vmlab/out
./.vmlab-script >$ports/vmlab.log 2>&1 </dev/null
status=$?
tar -C /vmlab/out -cf - . | dd of=$disks/virtio-output bs=1M conv=fsync status=none
echo $status >$ports/vmlab.status
systemctl poweroff --force --force
RUN
    cat >"$top/usr/local/lib/vmlab/setup" <<'SETUP'
#!/bin/sh
# Runs once, in the new root: no service starts by itself, no clean-up timers.
set -e
chmod +x /usr/local/lib/vmlab/run
echo vmlab >/etc/hostname
printf '127.0.0.1 localhost vmlab\n' >/etc/hosts
: >/etc/fstab
: >/etc/machine-id
mkdir -p /usr/lib/modules /vmlab
for unit in smbd nmbd samba-ad-dc ssh nfs-server nfs-kernel-server rpcbind.service \
    rpcbind.socket nfs-client.target rpc-statd-notify systemd-timesyncd e2scrub_all.timer \
    e2scrub_reap apt-daily.timer apt-daily-upgrade.timer fstrim.timer dpkg-db-backup.timer; do
    systemctl disable "$unit" >/dev/null 2>&1 || true
done
systemctl mask systemd-update-utmp.service systemd-update-utmp-runlevel.service \
    getty.target serial-getty@ttyS0.service systemd-random-seed.service \
    systemd-pcrphase.service systemd-pcrphase-sysinit.service nfs-blkmap.service
systemctl enable vmlab-run.service
systemctl set-default multi-user.target
SETUP
}

# Find out once whether kvm can really run the guest; some machines show the
# device but cannot use it.
probe_accel() {
    [ -e "$CACHE/accel" ] && return
    local accel=tcg script=$CACHE/true.sh
    if [ -w /dev/kvm ]; then
        printf '#!/bin/sh\nexit 0\n' >"$script"
        if cmd_run -a kvm -t 60 "$script" >/dev/null 2>&1; then accel=kvm; fi
        rm -f "$script"
    fi
    printf '%s\n' "$accel" >"$CACHE/accel"
    say "accelerator: $accel"
}

cmd_build() {
    local force='' kernel
    if [ "${1:-}" = -f ]; then force=1; shift; fi
    mkdir -p "$CACHE"
    # One build at a time; a second one waits and then finds the work done.
    exec 9>"$CACHE/lock"
    flock 9
    if [ "$force" ]; then rm -rf "$CACHE"/root.img "$CACHE"/kernel-* "$CACHE/accel"; fi
    rm -rf "$CACHE"/work.*
    build_rootfs
    [ $# -gt 0 ] || set -- "$BASE_SUITE"
    for kernel in "$@"; do build_kernel "$kernel"; done
    VMLAB_KERNEL=$1 probe_accel
}

cmd_list() {
    local dir
    [ -e "$CACHE/root.img" ] && printf 'root file system: %s\n' "$BASE_SUITE"
    for dir in "$CACHE"/kernel-*; do
        if [ -e "$dir/version" ]; then
            printf 'kernel %s: %s\n' "${dir##*/kernel-}" "$(cat "$dir/version")"
        fi
    done
    if [ -e "$CACHE/accel" ]; then printf 'accelerator: %s\n' "$(cat "$CACHE/accel")"; fi
}

# --------------------------------------------------------------------- run ---

RUN_DIR=
cleanup_run() { if [ -n "$RUN_DIR" ]; then rm -rf "$RUN_DIR"; fi; }

cmd_run() (
    kernel=${VMLAB_KERNEL:-$BASE_SUITE} accel=${VMLAB_ACCEL:-auto}
    limit=${VMLAB_TIMEOUT:-300} memory=1024 out='' console=''
    OPTIND=1
    while getopts k:a:t:m:o:c: opt; do
        case $opt in
        k) kernel=$OPTARG ;;
        a) accel=$OPTARG ;;
        t) limit=$OPTARG ;;
        m) memory=$OPTARG ;;
        o) out=$OPTARG ;;
        c) console=$OPTARG ;;
        *) die "usage: vmlab.sh run [-k KERNEL] [-a ACCEL] [-t SECONDS] [-m MIB] [-o DIR] [-c FILE] SCRIPT [FILES...]" 2 ;;
        esac
    done
    shift $((OPTIND - 1))
    [ $# -gt 0 ] || die "run needs a script" 2
    script=$1; shift
    [ -f "$script" ] || die "no such script: $script" 2
    kdir=$CACHE/kernel-$kernel
    if [ ! -e "$CACHE/root.img" ] || [ ! -e "$kdir/version" ]; then
        die "first: vmlab.sh build $kernel" 2
    fi
    if [ "$accel" = auto ]; then accel=$(cat "$CACHE/accel" 2>/dev/null || echo tcg); fi
    case $accel in
    kvm) cpu=host ;;
    # Emulated cmpxchg16b of QEMU 7.2 breaks kernels from 6.12 on, so it is hidden.
    tcg) cpu=max,-cx16; accel=tcg,thread=multi ;;
    *) die "unknown accelerator: $accel" 2 ;;
    esac

    RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/vmlab-run.XXXXXX")
    trap cleanup_run EXIT
    mkdir "$RUN_DIR/in"
    [ $# -eq 0 ] || cp -a -L -- "$@" "$RUN_DIR/in/"
    cp -- "$script" "$RUN_DIR/in/.vmlab-script"
    chmod +x "$RUN_DIR/in/.vmlab-script"
    tar -C "$RUN_DIR/in" --owner=0 --group=0 -cf "$RUN_DIR/input.tar" .
    truncate -s "%1M" "$RUN_DIR/input.tar"
    truncate -s "$OUTPUT_SIZE" "$RUN_DIR/output.tar"
    : >"$RUN_DIR/log"
    : >"$RUN_DIR/status"

    append="console=ttyS0 quiet loglevel=4 panic=-1 random.trust_cpu=on mitigations=off"
    append="$append systemd.show_status=0${VMLAB_APPEND:+ $VMLAB_APPEND}"
    disk() { printf 'if=none,id=%s,file=%s,format=raw,cache=unsafe,%s' "$1" "$2" "$3"; }
    status=0
    TMPDIR=$RUN_DIR timeout -k 5 "$limit" qemu-system-x86_64 \
        -accel "$accel" -cpu "$cpu" -machine q35 -smp 2 -m "$memory" \
        -nodefaults -no-user-config -display none -nic none -no-reboot \
        -kernel "$kdir/vmlinuz" -initrd "$kdir/initrd" \
        -append "$append" \
        -drive "$(disk root "$CACHE/root.img" snapshot=on)" -device virtio-blk-pci,drive=root,serial=root \
        -drive "$(disk modules "$kdir/modules.img" readonly=on)" -device virtio-blk-pci,drive=modules,serial=modules \
        -drive "$(disk input "$RUN_DIR/input.tar" readonly=on)" -device virtio-blk-pci,drive=input,serial=input \
        -drive "$(disk output "$RUN_DIR/output.tar" discard=ignore)" -device virtio-blk-pci,drive=output,serial=output \
        -chardev file,id=console,path="$RUN_DIR/console" -serial chardev:console \
        -device virtio-serial-pci \
        -chardev file,id=log,path="$RUN_DIR/log" -device virtserialport,chardev=log,name=vmlab.log \
        -chardev file,id=status,path="$RUN_DIR/status" -device virtserialport,chardev=status,name=vmlab.status \
        -device virtio-rng-pci \
        </dev/null >"$RUN_DIR/qemu" 2>&1 &
    pid=$!
    tail -n +1 -s 0.2 -f --pid=$pid "$RUN_DIR/log" 2>/dev/null || true
    wait $pid || status=$?

    if [ -n "$console" ]; then cp "$RUN_DIR/console" "$console" 2>/dev/null || true; fi
    if [ -n "$out" ]; then mkdir -p "$out"; tar -C "$out" -xf "$RUN_DIR/output.tar" 2>/dev/null || true; fi
    if [ -s "$RUN_DIR/status" ]; then exit "$(head -n 1 "$RUN_DIR/status")"; fi
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then
        say "the guest did not finish within $limit s"; status=124
    else
        say "the guest ended without a status (emulator: $status)"; status=125
    fi
    tail -n 25 "$RUN_DIR/qemu" "$RUN_DIR/console" >&2 2>/dev/null || true
    exit $status
)

case ${1:-} in
deps) cmd_deps ;;
build) shift; cmd_build "$@" ;;
run) shift; cmd_run "$@" ;;
list) cmd_list ;;
*) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
exit
