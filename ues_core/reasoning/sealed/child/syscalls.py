"""Which system calls a sealed process may not make, as numbers of the two machine architectures that are known here.

A list of refusals, because a list of permissions breaks with every new C library; what a new kernel adds is refused by its
number alone (``HIGHEST``). Numbers are the kernel's interface (``asm/unistd_64.h``, ``asm-generic/unistd.h``).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Machine(NamedTuple):
    """One architecture: its audit word and the column of the table that holds its numbers."""

    audit: int
    column: int


MACHINES: Final = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}

HIGHEST: Final = 470
"""The highest call that was looked at; the numbers from 424 on are the same everywhere. Above it: no such call."""

X32_BIT: Final = 0x40000000
"""Marks the second set of numbers of x86_64, which would go round the first."""

REFUSED: Final = (
    # network; a connected pair of the process's own (socketpair) is looked at in the filter
    "socket:41:198 connect:42:203 bind:49:200 listen:50:201 accept:43:202 accept4:288:242 "
    # another program, another process
    "execve:59:221 execveat:322:281 uselib:134:- fork:57:- vfork:58:- unshare:272:97 setns:308:268 "
    "pivot_root:155:41 chroot:161:51 setsid:112:157 setpgid:109:154 "
    # a look at, or a hand on, other processes
    "ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 process_madvise:440:440 process_mrelease:448:448 "
    "pidfd_open:434:434 pidfd_getfd:438:438 pidfd_send_signal:424:424 kcmp:312:272 tkill:200:130 rt_sigqueueinfo:129:138 "
    "rt_tgsigqueueinfo:297:240 setpriority:141:140 ioprio_set:251:30 sched_setaffinity:203:122 sched_setscheduler:144:119 "
    "sched_setparam:142:118 sched_setattr:314:274 migrate_pages:256:238 move_pages:279:239 get_robust_list:274:100 "
    "perf_event_open:298:241 "
    # changes of files; Landlock knows nothing of modes, owners, times and attributes
    "creat:85:- truncate:76:45 mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:- unlinkat:263:35 rename:82:- renameat:264:38 "
    "renameat2:316:276 link:86:- linkat:265:37 symlink:88:- symlinkat:266:36 mknod:133:- mknodat:259:33 chmod:90:- "
    "fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92:- fchown:93:55 lchown:94:- fchownat:260:54 utime:132:- "
    "utimes:235:- futimesat:261:- utimensat:280:88 setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 removexattr:197:14 "
    "lremovexattr:198:15 fremovexattr:199:16 setxattrat:463:463 removexattrat:466:466 file_setattr:469:469 "
    # what Landlock does not know of a file outside: its attributes, and a watch that tells the names of a folder's files
    "getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11 llistxattr:195:12 flistxattr:196:13 getxattrat:464:464 "
    "listxattrat:465:465 file_getattr:468:468 inotify_init:253:- inotify_init1:294:26 inotify_add_watch:254:27 "
    "name_to_handle_at:303:264 open_by_handle_at:304:265 fanotify_init:300:262 fanotify_mark:301:263 memfd_create:319:279 "
    "memfd_secret:447:447 "
    # the machine and the kernel; io_uring goes round this very filter
    "mount:165:40 umount2:166:39 mount_setattr:442:442 move_mount:429:429 open_tree:428:428 open_tree_attr:467:467 "
    "fsopen:430:430 fsconfig:431:431 fsmount:432:432 fspick:433:433 statmount:457:457 listmount:458:458 listns:470:470 "
    "swapon:167:224 swapoff:168:225 reboot:169:142 sethostname:170:161 setdomainname:171:162 init_module:175:105 "
    "finit_module:313:273 delete_module:176:106 kexec_load:246:104 kexec_file_load:320:294 bpf:321:280 userfaultfd:323:282 "
    "io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 add_key:248:217 request_key:249:218 "
    "keyctl:250:219 acct:163:89 quotactl:179:60 quotactl_fd:443:443 syslog:103:116 settimeofday:164:170 "
    "clock_settime:227:112 clock_adjtime:305:266 adjtimex:159:171 iopl:172:- ioperm:173:- modify_ldt:154:- "
    "personality:135:92 vhangup:153:58 sync:162:81 syncfs:306:267 flock:73:32 uretprobe:335:- uprobe:336:- "
    # memory and queues shared by name
    "shmget:29:194 shmat:30:196 shmctl:31:195 semget:64:190 semctl:66:191 semop:65:193 semtimedop:220:192 msgget:68:186 "
    "msgsnd:69:189 msgrcv:70:188 msgctl:71:187 mq_open:240:180 mq_unlink:241:181"
)  # fmt: skip
"""``name:x86_64:aarch64``, a dash where the architecture has no such call."""

EXAMINED: Final = (
    "open:2:- openat:257:56 openat2:437:437 clone:56:220 clone3:435:435 kill:62:129 tgkill:234:131 prlimit64:302:261 "
    "prctl:157:167 fcntl:72:25 ioctl:16:29 socketpair:53:199"
)
"""Calls whose arguments decide."""


def numbers(table: str, column: int) -> dict[str, int]:
    """``{name: number}`` of one architecture."""
    rows = (row.split(":") for row in table.split())
    return {row[0]: int(row[1 + column]) for row in rows if row[1 + column] != "-"}
