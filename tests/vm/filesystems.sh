# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# filesystems.sh - sourced: mount every kind of file system the probe is run on.
#
# lab_mount KIND sets
#   M  the mount to watch           (a folder in it is used, never more)
#   O  another mount of the same file system
#   S  where the other side of the mount (the server) keeps the files
# and lab_umount takes all of it away again. LAB is the working folder.

LAB=${LAB:-/srv/lab}

lab_loop() { # KIND SIZE MOUNT: a loop-mounted image
    local image=$LAB/$1.img
    truncate -s "$2" "$image"
    case $1 in
    ext4) mkfs.ext4 -q -F "$image" ;;
    xfs) mkfs.xfs -q -f "$image" ;;
    btrfs*) mkfs.btrfs -q -f "$image" ;;
    esac
    mount -o loop "$image" "$3"
}

lab_samba() { # start a Samba server for $LAB/cifs/export
    systemctl is-active -q smbd && return
    id nas >/dev/null 2>&1 || useradd -M -u 1500 nas
    cat >/etc/samba/smb.conf <<CONF
[global]
    workgroup = LAB
    interfaces = lo
    bind interfaces only = yes
    smb ports = 445
    disable netbios = yes
    load printers = no
    map to guest = never
[share]
    path = $LAB/cifs/export
    read only = no
    valid users = nas
    force user = root
    ea support = yes
CONF
    printf 'nas\nnas\n' | smbpasswd -s -a nas >/dev/null
    systemctl start smbd
    for _ in $(seq 50); do
        smbclient -U nas%nas -c ls //127.0.0.1/share >/dev/null 2>&1 && return
        sleep 0.2
    done
    echo "samba does not answer" >&2
}

lab_nfs() { # start an NFS server for $LAB/nfs/export, export3 (the same for version 3) and squash
    mkdir -p "$LAB/nfs/export" "$LAB/nfs/squash" "$LAB/nfs/export3"
    systemctl is-active -q nfs-server && return
    printf '%s 127.0.0.1(rw,sync,no_subtree_check,no_root_squash,fsid=1)\n' "$LAB/nfs/export" >/etc/exports
    printf '%s 127.0.0.1(rw,sync,no_subtree_check,root_squash,fsid=2)\n' "$LAB/nfs/squash" >>/etc/exports
    printf '%s 127.0.0.1(rw,sync,no_subtree_check,no_root_squash,fsid=3)\n' "$LAB/nfs/export3" >>/etc/exports
    systemctl start rpcbind nfs-server
    exportfs -ra
}

lab_sshfs() { # EXPORT MOUNT [OPTIONS]: sshfs over a local sftp server, no network
    printf '#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n' >"$LAB/sftp"
    chmod 755 "$LAB/sftp"
    sshfs -o "ssh_command=$LAB/sftp${3:+,$3}" "local:$1" "$2"
}

lab_mount() {
    local kind=$1 dir=$LAB/$1
    M=$dir/mnt O=$dir/other S=$dir/export
    mkdir -p "$M" "$O" "$S"
    case $kind in
    tmpfs)
        mount -t tmpfs lab "$M" && mount --bind "$M" "$O"; S=$O ;;
    ext4)
        lab_loop ext4 64M "$M" && mount --bind "$M" "$O"; S=$O ;;
    xfs)
        lab_loop xfs 320M "$M" && mount --bind "$M" "$O"; S=$O ;;
    btrfs)
        lab_loop btrfs 200M "$M" && mount --bind "$M" "$O"; S=$O ;;
    btrfs-subvol) # the mount is of a subvolume; the other side is the top volume
        lab_loop btrfs-subvol 200M "$S"
        btrfs -q subvolume create "$S/sub" 2>/dev/null || btrfs subvolume create "$S/sub" >/dev/null
        mount -o loop,subvol=sub "$LAB/btrfs-subvol.img" "$M" 2>/dev/null ||
            mount -o subvol=sub "$(findmnt -no SOURCE "$S" | sed 's/\[.*//')" "$M"
        mount --bind "$M" "$O"
        S=$S/sub ;;
    overlay)
        mount -t tmpfs lab "$S"
        mkdir -p "$S/lower" "$S/upper" "$S/work"
        mount -t overlay -o "lowerdir=$S/lower,upperdir=$S/upper,workdir=$S/work" lab "$M" &&
            mount --bind "$M" "$O"
        S=$S/upper ;;
    cifs)
        lab_samba
        mount -t cifs -o username=nas,password=nas,uid=0 //127.0.0.1/share "$M"
        mount -t cifs -o username=nas,password=nas,uid=0 //127.0.0.1/share "$O" ;;
    nfs4)
        S=$LAB/nfs/export
        lab_nfs
        mount -t nfs -o vers=4.2 "127.0.0.1:$S" "$M"
        mount -t nfs -o vers=4.2 "127.0.0.1:$S" "$O" ;;
    nfs3)
        S=$LAB/nfs/export3
        lab_nfs
        mount -t nfs -o vers=3,nolock "127.0.0.1:$S" "$M"
        mount -t nfs -o vers=3,nolock "127.0.0.1:$S" "$O" ;;
    squash)
        S=$LAB/nfs/squash
        lab_nfs
        chmod 777 "$S"
        mount -t nfs -o vers=4.2 "127.0.0.1:$S" "$M" ;;
    sshfs)
        lab_sshfs "$S" "$M" allow_other
        lab_sshfs "$S" "$O" allow_other ;;
    *) echo "no such file system: $kind" >&2; return 1 ;;
    esac
    mountpoint -q "$M"
}

lab_umount() {
    local dir=$LAB/$1 m
    cd /
    for m in "$dir/other" "$dir/mnt" "$dir/export"; do
        if mountpoint -q "$m"; then umount "$m" || umount -l "$m"; fi
    done
}
