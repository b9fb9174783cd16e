//! What a child process may do: Landlock for files, seccomp for everything else that reaches out.
//!
//! Both are made ready before the fork, as a descriptor and a list of instructions, so that the
//! child has nothing to do but hand them to the kernel.

use landlock::{
    path_beneath_rules, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope, ABI,
};
use seccompiler::{
    sock_filter, BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op,
    SeccompCondition as Condition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// The newest version of Landlock that the rules below know.
const NEWEST: ABI = ABI::V6;

/// Files below which a child may read, run programs, or do everything.
pub struct Files {
    pub read: Vec<PathBuf>,
    pub execute: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
}

/// The version of Landlock that the kernel offers; 0 if none.
pub fn landlock_version() -> i64 {
    // LANDLOCK_CREATE_RULESET_VERSION
    let none = std::ptr::null::<libc::c_void>();
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, 1) }.max(0)
}

/// Whether the kernel takes filters, and there is one for this processor.
pub fn has_seccomp() -> bool {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return false };
    let _ = arch;
    // Asked for an action that every kernel with filters knows: SECCOMP_RET_ERRNO.
    const GET_ACTION_AVAIL: libc::c_ulong = 2;
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}

/// The rules for files as a descriptor for `landlock_restrict_self`; None if the kernel has none.
pub fn landlock(files: &Files) -> Result<Option<OwnedFd>, String> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let existing = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().filter(|path| path.exists()).cloned().collect()
    };
    let made = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(existing(&files.read), read)))
        .and_then(|rules| {
            let run = AccessFs::from_read(NEWEST);
            rules.add_rules(path_beneath_rules(existing(&files.execute), run))
        })
        .and_then(|rules| {
            // Whoever may make devices (root) would have the disk in a file of its own.
            let all = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
            rules.add_rules(path_beneath_rules(existing(&files.write), all))
        });
    made.map(Into::into).map_err(|error| error.to_string())
}

/// What no confined program does: speak to the network or to other processes, change the system.
const REACHING_OUT: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Work handed to the kernel passes by every filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    // Which files others open and change.
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // What stays when all that has it is gone, and speaks to whoever knows its number.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_vhangup,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Whoever leaves the session would not be found when it ends.
    libc::SYS_setsid,
    // Landlock has no say in owners and attributes.
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
];

/// Calls from this number on are younger than the lists here: who knows what they do (the first
/// that followed changed modes and attributes of files). Numbers are the same for every processor.
const UNKNOWN: u32 = 452;

/// What may be asked of a descriptor: is it a terminal, how wide, how much is there to read. All
/// else is refused: `FS_IOC_SETFLAGS` makes a file that can only be read one that never changes.
const ASKED: &[u64] = &[
    libc::TCGETS as u64,
    0x802c_542a, // TCGETS2
    libc::TIOCGWINSZ as u64,
    libc::TIOCGPGRP as u64,
    libc::FIONREAD as u64,
    libc::FIONBIO as u64,
    libc::FIOCLEX as u64,
    libc::FIONCLEX as u64,
];

/// What of `fcntl` reaches others: signals when a file is ready, leases that have others wait.
const FOR_OTHERS: &[i32] = &[libc::F_SETOWN, F_SETOWN_EX, F_SETSIG, libc::F_SETLEASE];
const F_SETOWN_EX: i32 = 15; // asm-generic/fcntl.h
const F_SETSIG: i32 = 10;

/// What a program that calculates does not do either, but a compiler may.
const BEYOND_CALCULATION: &[i64] = &[
    // All that it starts stays in its group, and can be stopped with one call.
    libc::SYS_setpgid,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// What starts a process, besides `clone` without `CLONE_THREAD`.
const FORKS: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// Without Landlock's scopes (before its version 6) nobody may be signalled at all.
const SIGNALS: &[i64] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

const NEW_NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

fn when(argument: u8, length: Len, op: Op, value: u64) -> Result<SeccompRule, String> {
    when_all(vec![(argument, length, op, value)])
}

fn when_all(conditions: Vec<(u8, Len, Op, u64)>) -> Result<SeccompRule, String> {
    conditions
        .into_iter()
        .map(|(argument, length, op, value)| Condition::new(argument, length, op, value))
        .collect::<Result<_, _>>()
        .and_then(SeccompRule::new)
        .map_err(|error| error.to_string())
}

/// The filter; None for a processor or a kernel that has none.
///
/// Args:
///   calculates: it is no compiler.
///   alone: no other process may be started.
///   version: of Landlock.
pub fn filter(calculates: bool, alone: bool, version: i64) -> Result<Option<BpfProgram>, String> {
    if !has_seccomp() {
        return Ok(None);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| e.to_string())?;
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut refuse = |calls: &[i64]| refused.extend(calls.iter().map(|call| (*call, Vec::new())));
    refuse(REACHING_OUT);
    if calculates {
        refuse(BEYOND_CALCULATION);
    }
    if alone {
        refuse(FORKS);
    }
    if version < 6 {
        refuse(SIGNALS);
    }
    if version < 3 {
        refuse(&[libc::SYS_truncate]);
        // To open for reading and empty is to write.
        let emptying = |argument| -> Result<SeccompRule, String> {
            let flags = (libc::O_TRUNC | libc::O_ACCMODE) as u64;
            let read = libc::O_TRUNC as u64 | libc::O_RDONLY as u64;
            when(argument, Len::Dword, Op::MaskedEq(flags), read)
        };
        refused.insert(libc::SYS_openat, vec![emptying(2)?]);
        #[cfg(target_arch = "x86_64")]
        refused.insert(libc::SYS_open, vec![emptying(1)?]);
    }
    // Another process's limits.
    refused.insert(libc::SYS_prlimit64, vec![when(0, Len::Dword, Op::Ne, 0)?]);
    let other_than_asked = ASKED.iter().map(|code| (1, Len::Dword, Op::Ne, *code)).collect();
    refused.insert(libc::SYS_ioctl, vec![when_all(other_than_asked)?]);
    let for_others = FOR_OTHERS.iter().map(|what| when(1, Len::Dword, Op::Eq, *what as u64));
    refused.insert(libc::SYS_fcntl, for_others.collect::<Result<_, _>>()?);
    let mut clone = Vec::new();
    let mut bits = NEW_NAMESPACES;
    while bits != 0 {
        let bit = bits & bits.wrapping_neg();
        clone.push(when(0, Len::Qword, Op::MaskedEq(bit), bit)?);
        bits &= bits - 1;
    }
    if alone {
        clone.push(when(0, Len::Qword, Op::MaskedEq(libc::CLONE_THREAD as u64), 0)?);
    }
    refused.insert(libc::SYS_clone, clone);
    let program = |refused, error: i32| -> Result<BpfProgram, String> {
        let action = SeccompAction::Errno(error as u32);
        SeccompFilter::new(refused, SeccompAction::Allow, action, arch)
            .and_then(TryInto::try_into)
            .map_err(|error| error.to_string())
    };
    let body = program(refused, libc::EPERM)?;
    // What hides its arguments in memory is not there, so that the older call is used.
    let mut absent = vec![libc::SYS_clone3];
    if version < 3 {
        absent.push(libc::SYS_openat2);
    }
    let mut whole = unknown().to_vec();
    whole.extend(absent.into_iter().flat_map(missing));
    whole.extend(body);
    Ok(Some(whole))
}

const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_FROM: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// The call of this number fails as if the kernel were older.
fn missing(call: i64) -> [sock_filter; 3] {
    [
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(JUMP_EQUAL, 0, 1, call as u32),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}

/// Calls that nobody knew when this was written fail as if the kernel were older. And so do those
/// of programs with pointers of 32 bits, for which the same calls have other, higher numbers.
fn unknown() -> [sock_filter; 3] {
    [
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(JUMP_FROM, 0, 1, UNKNOWN),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}
