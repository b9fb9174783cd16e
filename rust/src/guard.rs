//! Starts a program under a guard: a small process between us and it that outlives neither.
//!
//! The guard ends the program, and all that it has started, when we are gone (however we went),
//! when its time is up, or when it has too many tasks or too much memory. What a program leaves
//! running when it ends is ended too. The guard is a fork of this process and runs no other
//! program, so it may only do what is safe between fork and exec: system calls, on memory that was
//! made before.

use crate::confine;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr;

/// Why a program ended, as the guard reports it.
const OWN_END: i32 = 0;
const TIME: i32 = 1;
const TASKS: i32 = 2;
const MEMORY: i32 = 3;

const TICK_MS: i32 = 100;
/// Where processes can multiply: in a tick of the other length they would take the whole machine.
const SHORT_TICK_MS: i32 = 10;
/// By how much the guard goes before what it guards, where that can multiply.
const NICE: libc::c_int = 10;
/// Between asking a program to end and ending it.
const GRACE_MS: i64 = 1000;

struct Order {
    program: CString,
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    folder: CString,
    streams: [RawFd; 3],
    kept: Vec<RawFd>,
    limits: Vec<(libc::c_int, u64)>,
    /// Milliseconds; 0 for no limit.
    time: i64,
    /// Processes and threads, all together; 0 for no limit.
    tasks: u64,
    /// Bytes resident, all together; 0 for no limit.
    memory: u64,
    confined: bool,
    /// No other process may be started.
    alone: bool,
    /// It is no compiler.
    calculates: bool,
    rules: Option<OwnedFd>,
    filter: Option<seccompiler::BpfProgram>,
}

fn failed(what: &str) -> PyErr {
    let error = std::io::Error::last_os_error();
    PyOSError::new_err((error.raw_os_error().unwrap_or(0), what.to_string()))
}

fn pipe() -> PyResult<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(failed("pipe"));
    }
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

fn strings(values: Vec<Vec<u8>>) -> PyResult<Vec<CString>> {
    values.into_iter().map(|value| CString::new(value).map_err(Into::into)).collect()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}

/// (version of Landlock, 0 if none; whether there are seccomp filters)
#[pyfunction]
pub fn confinement() -> (i64, bool) {
    (confine::landlock_version(), confine::has_seccomp())
}

/// Start a program under a guard; gives (guard's process, its own, life line, where it reports).
///
/// The program gets the descriptors `streams` as its first three and those in `kept` as they are.
/// A byte written to the life line is sent to the program's group as a signal; when the line
/// closes the program ends. The guard reports its reason and the program's wait status as two
/// 32-bit words.
#[pyfunction]
#[pyo3(signature = (arguments, environment, folder, streams, *, kept, limits, seconds, tasks,
    memory, files, calculates, alone))]
#[allow(clippy::too_many_arguments)]
pub fn spawn(
    py: Python<'_>,
    arguments: Vec<Vec<u8>>,
    environment: Vec<Vec<u8>>,
    folder: PathBuf,
    streams: [RawFd; 3],
    kept: Vec<RawFd>,
    limits: Vec<(libc::c_int, u64)>,
    seconds: f64,
    tasks: u64,
    memory: u64,
    files: Option<(Vec<PathBuf>, Vec<PathBuf>, Vec<PathBuf>)>,
    calculates: bool,
    alone: bool,
) -> PyResult<(libc::pid_t, libc::pid_t, RawFd, RawFd)> {
    let arguments = strings(arguments)?;
    let environment = strings(environment)?;
    let program = arguments.first().cloned().ok_or_else(|| PyOSError::new_err("no program"))?;
    let mut rules = None;
    let mut filter = None;
    let confined = files.is_some();
    if let Some((read, execute, write)) = files {
        let version = confine::landlock_version();
        if version > 0 {
            rules = confine::landlock(&confine::Files { read, execute, write })
                .map_err(PyOSError::new_err)?;
        }
        filter = confine::filter(calculates, alone, version).map_err(PyOSError::new_err)?;
    }
    let order = Order {
        program,
        arguments: pointers(&arguments),
        environment: pointers(&environment),
        folder: CString::new(folder.into_os_string().into_vec())?,
        streams,
        kept,
        limits,
        time: (seconds * 1000.0) as i64,
        tasks,
        memory,
        confined,
        alone,
        calculates,
        rules,
        filter,
    };
    let (life_read, life_write) = pipe()?;
    let (report_read, report_write) = pipe()?;
    let (begun_read, begun_write) = pipe()?;
    let fds = (life_read.as_raw_fd(), report_write.as_raw_fd(), begun_write.as_raw_fd());
    let guard = {
        let order = &order;
        // No handler of ours may run in the child.
        let mut all = unsafe { std::mem::zeroed::<libc::sigset_t>() };
        let mut before = all;
        unsafe {
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            // The bare call: no library's preparations for a fork run, here or there.
            let pid = libc::syscall(libc::SYS_clone, libc::SIGCHLD as libc::c_long, 0, 0, 0, 0);
            if pid == 0 {
                guard_main(order, fds);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
            pid as libc::pid_t
        }
    };
    if guard < 0 {
        return Err(failed("fork"));
    }
    drop((life_read, report_write, begun_write));
    let begun = begun_read.as_raw_fd();
    // Until the program runs, or could not: then there is what and why.
    let (child, trouble) = py.detach(|| {
        let mut child = 0;
        let mut trouble = None;
        loop {
            let mut words = [0i32; 2];
            let size = size_of_val(&words);
            match unsafe { libc::read(begun, words.as_mut_ptr().cast(), size) } {
                0 => return (child, trouble),
                8 if words[0] == STARTED => child = words[1],
                8 => trouble = Some(words),
                _ => {}
            }
        }
    });
    if let Some([step, error]) = trouble {
        let mut status = 0;
        unsafe { libc::waitpid(guard, &raw mut status, 0) };
        return Err(PyOSError::new_err((error, STEPS[step as usize])));
    }
    Ok((guard, child, life_write.into_raw_fd(), report_read.into_raw_fd()))
}

/// Goes before the process number of the program in what the guard writes when it begins.
const STARTED: i32 = -1;

const STEPS: [&str; 8] = [
    "fork",
    "set up its streams",
    "enter its folder",
    "set its limits",
    "confine its files",
    "confine its system calls",
    "start",
    "guard",
];

/// End this process some time after one of these signals was written to `line`, whatever it does.
///
/// Python attends to a signal between two of its own instructions only; a library may take long.
/// A zero says that the process has done its work, and ends by itself.
#[pyfunction]
pub fn end_after(
    line: RawFd,
    signals: Vec<u8>,
    seconds: f64,
    message: String,
    status: i32,
) -> PyResult<()> {
    let watch = move || {
        // What comes is the main thread's, which may have it wait.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
        }
        let mut deadline: Option<std::time::Instant> = None;
        loop {
            let left = deadline.map_or(-1, |at| {
                let left = at.saturating_duration_since(std::time::Instant::now());
                left.as_millis().try_into().unwrap_or(i32::MAX)
            });
            let mut polled = libc::pollfd { fd: line, events: libc::POLLIN, revents: 0 };
            if left == 0 || unsafe { libc::poll(&raw mut polled, 1, left) } == 0 {
                unsafe {
                    libc::write(2, message.as_ptr().cast(), message.len());
                    libc::_exit(status);
                }
            }
            let mut signal = 0u8;
            match unsafe { libc::read(line, (&raw mut signal).cast(), 1) } {
                1 if signal == 0 => return,
                1 if signals.contains(&signal) => {
                    let seconds = std::time::Duration::from_secs_f64(seconds);
                    deadline.get_or_insert(std::time::Instant::now() + seconds);
                }
                0 => return,
                _ => {}
            }
        }
    };
    std::thread::Builder::new().stack_size(1 << 16).spawn(watch).map(|_| ()).map_err(Into::into)
}

/// Have this process end when the one that made it does, SIGKILL included.
///
/// For a copy of this process (`os.fork`). `parent` is what `os.getpid()` was there.
#[pyfunction]
pub fn end_with(parent: libc::pid_t) {
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(1);
        }
    }
}

// ---- between fork and exec -------------------------------------------------------------------

unsafe fn guard_main(order: &Order, fds: (RawFd, RawFd, RawFd)) -> ! {
    let (life, report, begun) = fds;
    libc::setsid();
    libc::prctl(libc::PR_SET_NAME, c"cyclescope-guard".as_ptr());
    libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    let me = libc::getpid();
    let child = libc::syscall(libc::SYS_clone, libc::SIGCHLD as libc::c_long, 0, 0, 0, 0);
    if child == 0 {
        child_main(order, me, begun);
    }
    if child < 0 {
        let words = [0i32, *libc::__errno_location()];
        libc::write(begun, words.as_ptr().cast(), 8);
        libc::_exit(127);
    }
    let child = child as libc::pid_t;
    libc::setpgid(child, child);
    let words = [STARTED, child];
    libc::write(begun, words.as_ptr().cast(), 8);
    // Only its own descriptors: whoever reads the program's output waits for the last that has it.
    let life = libc::fcntl(life, libc::F_DUPFD, 10);
    let report = libc::fcntl(report, libc::F_DUPFD, 10);
    libc::dup2(life, 0);
    libc::dup2(report, 1);
    let mut watched = std::mem::zeroed::<libc::sigset_t>();
    libc::sigemptyset(&raw mut watched);
    for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        libc::sigaddset(&raw mut watched, signal);
    }
    close_from(2);
    let signals = libc::signalfd(-1, &raw const watched, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC);
    libc::chdir(c"/".as_ptr());
    let page = page_size();
    let mut guard = Guard { child, me, signals, status: None, reason: OWN_END, page };
    guard.watch(order);
    guard.end_all();
    let words = [guard.reason, guard.status.unwrap_or(libc::SIGKILL)];
    libc::write(1, words.as_ptr().cast(), 8);
    libc::_exit(0)
}

unsafe fn page_size() -> u64 {
    libc::sysconf(libc::_SC_PAGESIZE) as u64
}

unsafe fn close_from(first: RawFd) {
    if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) == 0 {
        return;
    }
    for fd in first..65536 {
        libc::close(fd);
    }
}

fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as i64 * 1000 + time.tv_nsec as i64 / 1_000_000
}

struct Guard {
    child: libc::pid_t,
    me: libc::pid_t,
    signals: RawFd,
    status: Option<i32>,
    reason: i32,
    page: u64,
}

impl Guard {
    /// Until the program has ended, or must.
    unsafe fn watch(&mut self, order: &Order) {
        let started = now();
        let mut ending: Option<i64> = None;
        let mut polled = [
            libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 },
            libc::pollfd { fd: self.signals, events: libc::POLLIN, revents: 0 },
        ];
        let mut looked = started;
        let alone = order.alone && order.filter.is_some();
        let mut usual = tasks_of_all().unwrap_or(u64::MAX);
        while self.status.is_none() {
            libc::poll(polled.as_mut_ptr(), 2, if alone { TICK_MS } else { SHORT_TICK_MS });
            if polled[1].revents != 0 {
                self.heed();
            }
            if polled[0].revents != 0 {
                let mut signal = 0u8;
                if libc::read(0, (&raw mut signal).cast(), 1) == 1 {
                    libc::kill(-self.child, libc::c_int::from(signal));
                } else {
                    // Whoever started us is gone.
                    polled[0].fd = -1;
                    libc::kill(-self.child, libc::SIGTERM);
                    ending.get_or_insert(now() + GRACE_MS);
                }
            }
            self.reap();
            let time = now();
            if order.time > 0 && time - started > order.time && self.reason == OWN_END {
                self.reason = TIME;
                libc::kill(-self.child, libc::SIGTERM);
                ending.get_or_insert(time + GRACE_MS);
            }
            if ending.is_some_and(|at| time > at) {
                return;
            }
            // To count all of the machine's is one line to read; to count its own, all of /proc.
            let most = usual.saturating_add(order.tasks);
            let all = if alone || order.tasks == 0 { None } else { tasks_of_all() };
            let many = all.filter(|all| *all > most);
            let due = many.is_some() || time - looked >= i64::from(TICK_MS);
            if due && self.status.is_none() {
                looked = time;
                if many.is_some() {
                    // However many there are by the time that they are counted.
                    libc::kill(-self.child, libc::SIGSTOP);
                }
                let (tasks, memory) = self.take_stock(alone);
                if order.tasks > 0 && tasks > order.tasks {
                    self.reason = TASKS;
                    return;
                }
                if order.memory > 0 && memory > order.memory {
                    self.reason = MEMORY;
                    return;
                }
                if let Some(all) = many {
                    // They are others'.
                    usual = all.saturating_sub(tasks);
                    libc::kill(-self.child, libc::SIGCONT);
                }
            }
        }
    }

    /// Signals that others sent to the guard go on to the program.
    unsafe fn heed(&mut self) {
        let mut info = std::mem::zeroed::<libc::signalfd_siginfo>();
        let size = size_of_val(&info);
        while libc::read(self.signals, (&raw mut info).cast(), size) == size as isize {
            if info.ssi_signo as libc::c_int != libc::SIGCHLD {
                libc::kill(-self.child, info.ssi_signo as libc::c_int);
            }
        }
    }

    /// Takes note of what has ended; false if nothing is left.
    unsafe fn reap(&mut self) -> bool {
        loop {
            let mut status = 0;
            let pid = libc::waitpid(-1, &raw mut status, libc::WNOHANG);
            match pid {
                0 => return true,
                -1 => return false,
                _ if pid == self.child => self.status = Some(status),
                _ => {}
            }
        }
    }

    /// Ends everything that the program has started.
    unsafe fn end_all(&mut self) {
        libc::kill(-self.child, libc::SIGKILL);
        while self.reap() {
            self.each_process(&mut |pid, _| {
                libc::kill(pid, libc::SIGKILL);
            });
            libc::usleep(500);
        }
    }

    /// (processes and threads, resident bytes)
    unsafe fn take_stock(&mut self, alone: bool) -> (u64, u64) {
        let (mut tasks, mut memory) = (0, 0);
        let page = self.page;
        let mut add = |stat: &Stat| {
            tasks += stat.threads;
            memory += stat.resident * page;
        };
        if alone {
            // It can start no other process.
            if let Some(stat) = read_stat(self.child as u64) {
                add(&stat);
            }
        } else {
            self.each_process(&mut |_, stat| add(stat));
        }
        (tasks, memory)
    }

    /// Calls with every process of the guard's session, or whose parent it is, but itself.
    unsafe fn each_process(&self, visit: &mut dyn FnMut(libc::pid_t, &Stat)) {
        let folder =
            libc::open(c"/proc".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if folder < 0 {
            return;
        }
        let mut buffer = [0u64; 4096];
        loop {
            let size = size_of_val(&buffer);
            let got = libc::syscall(libc::SYS_getdents64, folder, buffer.as_mut_ptr(), size);
            if got <= 0 {
                break;
            }
            let bytes = std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), got as usize);
            let mut at = 0;
            while at + 19 < bytes.len() {
                let length = usize::from(u16::from_ne_bytes([bytes[at + 16], bytes[at + 17]]));
                let name = &bytes[at + 19..at + length];
                at += length;
                let Some(pid) = number(name) else { continue };
                if pid as libc::pid_t == self.me {
                    continue;
                }
                if let Some(stat) = read_stat(pid) {
                    let ours = stat.session == self.me as u64 || stat.parent == self.me as u64;
                    if ours && stat.state != b'Z' {
                        visit(pid as libc::pid_t, &stat);
                    }
                }
            }
        }
        libc::close(folder);
    }
}

/// The number that a text begins with, if it begins with a digit.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    text.first()?.is_ascii_digit().then(|| {
        digits.fold(0u64, |sum, byte| sum.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')))
    })
}

/// Processes and threads of the machine: the fourth field of /proc/loadavg, `running/all`.
unsafe fn tasks_of_all() -> Option<u64> {
    let file = libc::open(c"/proc/loadavg".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
    if file < 0 {
        return None;
    }
    let mut text = [0u8; 128];
    let got = libc::read(file, text.as_mut_ptr().cast(), text.len());
    libc::close(file);
    let text = text.get(..usize::try_from(got).ok()?)?;
    number(text.split(|byte| *byte == b'/').nth(1)?)
}

struct Stat {
    state: u8,
    parent: u64,
    session: u64,
    threads: u64,
    resident: u64,
}

/// Fields of /proc/PID/stat, see proc(5).
unsafe fn read_stat(pid: u64) -> Option<Stat> {
    let mut path = *b"/proc/00000000000000000000/stat\0";
    let mut digits = [0u8; 20];
    let (mut rest, mut count) = (pid, 0);
    while rest > 0 {
        digits[count] = b'0' + (rest % 10) as u8;
        rest /= 10;
        count += 1;
    }
    for (place, digit) in digits[..count].iter().rev().enumerate() {
        path[6 + place] = *digit;
    }
    path[6 + count..6 + count + 6].copy_from_slice(b"/stat\0");
    let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
    if file < 0 {
        return None;
    }
    let mut text = [0u8; 1024];
    let got = libc::read(file, text.as_mut_ptr().cast(), text.len());
    libc::close(file);
    if got <= 0 {
        return None;
    }
    let text = &text[..got as usize];
    // The name in brackets may hold anything.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut stat = Stat { state: 0, parent: 0, session: 0, threads: 0, resident: 0 };
    let fields = text.get(end + 2..)?.split(|byte| *byte == b' ');
    for (place, field) in fields.enumerate().take(22) {
        match place {
            0 => stat.state = *field.first()?,
            1 => stat.parent = number(field)?,
            3 => stat.session = number(field).unwrap_or(0),
            17 => stat.threads = number(field)?,
            21 => stat.resident = number(field)?,
            _ => {}
        }
    }
    Some(stat)
}

unsafe fn child_main(order: &Order, guard: libc::pid_t, begun: RawFd) -> ! {
    let step = prepare(order, guard, begun);
    let words = [step, *libc::__errno_location()];
    libc::write(begun, words.as_ptr().cast(), 8);
    libc::_exit(127)
}

/// Becomes the program; returns with the number of the step that failed.
unsafe fn prepare(order: &Order, guard: libc::pid_t, begun: RawFd) -> i32 {
    libc::setpgid(0, 0);
    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    if libc::getppid() != guard {
        return 7;
    }
    for signal in 1..=64 {
        libc::signal(signal, libc::SIG_DFL);
    }
    let mut none = std::mem::zeroed::<libc::sigset_t>();
    libc::sigemptyset(&raw mut none);
    libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    let mut moved = [0; 3];
    for (place, stream) in order.streams.iter().enumerate() {
        moved[place] = libc::fcntl(*stream, libc::F_DUPFD_CLOEXEC, 10);
        if moved[place] < 0 {
            return 1;
        }
    }
    for (place, stream) in moved.iter().enumerate() {
        if libc::dup2(*stream, place as RawFd) < 0 {
            return 1;
        }
    }
    const CLOSE_ON_EXEC: libc::c_uint = 4;
    if libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOSE_ON_EXEC) != 0 {
        for fd in 3..65536 {
            if libc::fcntl(fd, libc::F_GETFD) >= 0 {
                libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
    for fd in &order.kept {
        if libc::fcntl(*fd, libc::F_SETFD, 0) < 0 {
            return 1;
        }
    }
    if libc::fcntl(begun, libc::F_SETFD, libc::FD_CLOEXEC) < 0 {
        return 1;
    }
    if libc::chdir(order.folder.as_ptr()) != 0 {
        return 2;
    }
    for (resource, value) in &order.limits {
        let mut limit = std::mem::zeroed::<libc::rlimit>();
        libc::getrlimit(*resource as _, &raw mut limit);
        let value = (*value as libc::rlim_t).min(limit.rlim_cur); // whoever started us may have set less
        limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        if libc::setrlimit(*resource as _, &raw const limit) != 0 {
            return 3;
        }
    }
    if order.calculates && !order.alone {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
    }
    if order.confined {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    }
    if let Some(rules) = &order.rules {
        if libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) != 0 {
            return 4;
        }
    }
    if let Some(filter) = &order.filter {
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_ptr().cast_mut().cast(),
        };
        // The speed of the program is not to suffer where kernels before 5.16 would slow it down.
        let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        let mode = libc::SECCOMP_SET_MODE_FILTER;
        if libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) != 0 {
            return 5;
        }
    }
    libc::execve(order.program.as_ptr(), order.arguments.as_ptr(), order.environment.as_ptr());
    6
}
