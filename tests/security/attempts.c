// What a hostile program tries, one thing at a time: attempts NAME ARGUMENT. Says "done" if it could,
// else which error it got.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/fs.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void *rest(void *unused) { (void)unused; for (;;) pause(); return 0; }

static int send_to(int family, int kind, const char *where) {
    int fd = socket(family, kind, 0);
    if (fd < 0) return -1;
    if (family == AF_INET) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(where)),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (connect(fd, (struct sockaddr *)&to, sizeof to)) return -1;
    } else {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        strncpy(to.sun_path + (*where == '@'), where + (*where == '@'), sizeof to.sun_path - 2);
        socklen_t size = sizeof to;
        if (*where == '@') size = offsetof(struct sockaddr_un, sun_path) + strlen(where);
        if (connect(fd, (struct sockaddr *)&to, size)) return -1;
    }
    return write(fd, "secret", 6) == 6 ? 0 : -1;
}

static int attempt(const char *what, const char *with) {
    int number = atoi(with);
    if (!strcmp(what, "nothing")) return 0;
    if (!strcmp(what, "read")) return open(with, O_RDONLY) < 0 ? -1 : 0;
    if (!strcmp(what, "list")) return open(with, O_RDONLY | O_DIRECTORY) < 0 ? -1 : 0;
    if (!strcmp(what, "write")) {
        int fd = open(with, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : -1;
    }
    if (!strcmp(what, "empty")) return truncate(with, 0);
    if (!strcmp(what, "empty reading")) return open(with, O_RDONLY | O_TRUNC) < 0 ? -1 : 0;
    if (!strcmp(what, "remove")) return unlink(with);
    if (!strcmp(what, "link")) return link(with, "linked");
    if (!strcmp(what, "chmod")) return chmod(with, 0777);
    if (!strcmp(what, "chown")) return chown(with, getuid(), getgid());
    if (!strcmp(what, "date")) return utimes(with, 0);
    if (!strcmp(what, "attribute")) return setxattr(with, "user.x", "y", 1, 0);
    // The numbers of calls that are younger than the headers (fchmodat2, setxattrat).
    if (!strcmp(what, "newer chmod")) return syscall(452, AT_FDCWD, with, 0777, 0) ? -1 : 0;
    if (!strcmp(what, "newer attribute")) {
        struct { const char *value; unsigned size, flags; } text = {"y", 1, 0};
        return syscall(463, AT_FDCWD, with, 0, "user.x", &text, sizeof text) ? -1 : 0;
    }
    if (!strcmp(what, "flags")) {
        int fd = open(with, O_RDONLY), flags = 0;
        if (fd < 0) return -1;
        ioctl(fd, FS_IOC_GETFLAGS, &flags);
        return ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    if (!strcmp(what, "lease")) return fcntl(open(with, O_RDONLY), F_SETLEASE, F_RDLCK);
    if (!strcmp(what, "watch")) return inotify_add_watch(inotify_init(), with, IN_ALL_EVENTS) < 0 ? -1 : 0;
    if (!strcmp(what, "device")) return mknod("device", S_IFBLK | 0600, makedev(7, 0));
    if (!strcmp(what, "priority")) return setpriority(PRIO_PROCESS, number, 19);
    if (!strcmp(what, "scheduler")) {
        struct sched_param none = {0};
        return sched_setscheduler(number, SCHED_BATCH, &none);
    }
    if (!strcmp(what, "shared memory")) {
        int made = shmget(IPC_PRIVATE, 4096, 0600);
        return made < 0 ? -1 : shmctl(made, IPC_RMID, 0);
    }
    if (!strcmp(what, "queue")) {
        int made = msgget(IPC_PRIVATE, 0600);
        return made < 0 ? -1 : msgctl(made, IPC_RMID, 0);
    }
    if (!strcmp(what, "tcp")) return send_to(AF_INET, SOCK_STREAM, with);
    if (!strcmp(what, "udp")) return send_to(AF_INET, SOCK_DGRAM, with);
    if (!strcmp(what, "unix")) return send_to(AF_UNIX, SOCK_STREAM, with);
    if (!strcmp(what, "pair")) {
        int ends[2];
        return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    }
    if (!strcmp(what, "uring")) {
        char parameters[120] = {0};
        return syscall(SYS_io_uring_setup, 1, parameters) < 0 ? -1 : 0;
    }
    if (!strcmp(what, "system")) {
        int status = system(with);
        return status == 0 ? 0 : -1;
    }
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        return child < 0 ? -1 : 0;
    }
    if (!strcmp(what, "clone3")) {
        struct { unsigned long long words[11]; } args = {{0}};
        args.words[4] = SIGCHLD;
        long child = syscall(SYS_clone3, &args, sizeof args);
        if (child == 0) _exit(0);
        return child < 0 ? -1 : 0;
    }
    if (!strcmp(what, "exec")) {
        char *arguments[] = {(char *)with, 0};
        execv(with, arguments);
        return -1;
    }
    if (!strcmp(what, "signal")) return kill(number, 0);
    if (!strcmp(what, "trace")) return ptrace(PTRACE_SEIZE, number, 0, 0) < 0 ? -1 : 0;
    if (!strcmp(what, "peek")) {
        char byte;
        struct iovec here = {&byte, 1}, there = {(void *)&attempt, 1};
        return process_vm_readv(number, &here, 1, &there, 1, 0) == 1 ? 0 : -1;
    }
    if (!strcmp(what, "limits")) {
        struct rlimit limit;
        return prlimit(number, RLIMIT_NOFILE, 0, &limit);
    }
    if (!strcmp(what, "namespace")) return unshare(CLONE_NEWUSER);
    if (!strcmp(what, "session")) return setsid() < 0 && errno == EPERM && getpid() != getsid(0) ? -1 : 0;
    if (!strcmp(what, "mount")) return syscall(SYS_mount, "x", with, "tmpfs", 0, 0);
    if (!strcmp(what, "core")) {
        struct rlimit limit = {1 << 20, 1 << 20};
        return setrlimit(RLIMIT_CORE, &limit);
    }
    if (!strcmp(what, "sleep")) { sleep(number); return 0; }
    if (!strcmp(what, "stubborn")) { signal(SIGTERM, SIG_IGN); sleep(number); return 0; }
    if (!strcmp(what, "threads")) {
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 1 << 16);
        for (int i = 0; i < number; i++) {
            pthread_t thread;
            if (pthread_create(&thread, &small, rest, 0)) return -1;
        }
        sleep(1);
        return 0;
    }
    if (!strcmp(what, "memory")) {
        for (int i = 0; i < number; i++) {
            char *block = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (block == MAP_FAILED) return -1;
            memset(block, 1, 1 << 20);
        }
        sleep(1);
        return 0;
    }
    if (!strcmp(what, "daemon")) {
        // Two generations, a session of its own where it may, no terminal: as daemons begin.
        if (fork() == 0) {
            setsid();
            if (fork() == 0) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); sleep(number); }
            _exit(0);
        }
        usleep(100000);
        return 0;
    }
    if (!strcmp(what, "multiply")) {
        for (int i = 0; i < number; i++) fork();
        sleep(60);
        return 0;
    }
    if (!strcmp(what, "bomb")) {
        for (int i = 0; i < number; i++)
            if (fork() == 0) { sleep(60); _exit(0); }
        sleep(5);
        return 0;
    }
    errno = ENOSYS;
    return -1;
}

int main(int argc, char **argv) {
    errno = 0;
    if (attempt(argv[1], argc > 2 ? argv[2] : "") == 0) puts("done");
    else printf("refused: %s\n", strerror(errno));
    fflush(stdout);
    return 0;
}
