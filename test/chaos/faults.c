/*
 * A failing disk for tests: preloaded into a process, it records operations on the files below FAULTS_FOLDER into
 * FAULTS_TRACE, and lets syncs and writes fail as set by the numbers in the file FAULTS_CONTROL.
 *
 * A record: operation (1 byte: W write, T truncate, S sync, U unlink, R rename, L link), outcome (1: 0 done, 1 failed), length of the
 * path (2), offset (8), length of the data (4), path, data; all little-endian. A failed sync is reported once to every
 * descriptor that was open then, in every process, as on Linux, and leaves the pages clean: no later sync writes them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FILES 4096
#define MAX_FAILED 4096

enum { FAIL_SYNC, NO_SPACE, FAIL_WRITE, FAIL_FOLDER_SYNC, FAIL_FILE_SYNC };

/*
 * Shared by all processes: the numbers above, the count of syncs, the first that fails and how many do, whether the next one
 * fails, failed ones by file.
 */
struct shared {
  int32_t numbers[8], syncs, first, count, next, unused[4];
  struct { uint64_t inode, failures; } failed[MAX_FAILED];
};
static struct shared *control;
static int trace = -1;
static char folder[4096];
static size_t folder_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * For each descriptor its path, its device and inode, because libuv closes without the close below, and the number of failed
 * syncs of that file that were reported to it.
 */
static struct { char *path; uint64_t reported; dev_t device; ino_t inode; } files[MAX_FILES];

#define REAL(name, ...) static typeof(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

static void prepare(void) {
  const char *name = getenv("FAULTS_FOLDER"), *file = getenv("FAULTS_TRACE"), *numbers = getenv("FAULTS_CONTROL");
  if (!name || !numbers) return;
  folder_length = strlen(name);
  memcpy(folder, name, folder_length + 1);
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  if (file) trace = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int descriptor = real_open(numbers, O_RDWR | O_CLOEXEC);
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (control == MAP_FAILED) control = NULL;
}

/* Whether a call fails now: the number means never, always, or once in so many calls. */
static int wants(int number) {
  int32_t calls = control ? __atomic_load_n(&control->numbers[number], __ATOMIC_SEQ_CST) : 0;
  return calls == 1 || (calls > 1 && random() % calls == 0);
}

static const char *path_of(int fd) {
  struct stat now;
  pthread_once(&once, prepare);
  if (fd < 0 || fd >= MAX_FILES || !files[fd].path || fstat(fd, &now) != 0) return NULL;
  return now.st_dev == files[fd].device && now.st_ino == files[fd].inode ? files[fd].path : NULL;
}

/* Adds `more` to the number of failed syncs of a file, and returns it. */
static uint64_t failures_of(ino_t inode, uint64_t more) {
  for (int i = 0; i < MAX_FAILED; i++) {
    uint64_t none = 0;
    if (more) __atomic_compare_exchange_n(&control->failed[i].inode, &none, inode, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (control->failed[i].inode == 0) return 0;
    if (control->failed[i].inode == inode) return __atomic_add_fetch(&control->failed[i].failures, more, __ATOMIC_SEQ_CST);
  }
  abort();
}

static void record(char operation, char outcome, const char *path, uint64_t offset, const void *data, uint32_t length) {
  if (trace < 0) return;
  unsigned char head[16];
  uint16_t path_length = strlen(path);
  head[0] = operation;
  head[1] = outcome;
  memcpy(head + 2, &path_length, 2);
  memcpy(head + 4, &offset, 8);
  memcpy(head + 12, &length, 4);
  struct iovec parts[] = {{head, 16}, {(void *)path, path_length}, {(void *)data, length}};
  if (writev(trace, parts, length ? 3 : 2) < 0) abort();
}

static void opened(int fd, const char *path) {
  pthread_once(&once, prepare);
  if (fd < 0 || fd >= MAX_FILES || !folder_length || strncmp(path, folder, folder_length) != 0) return;
  size_t length = strlen(path);
  /* Shared memory is not on the disk. */
  if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return;
  struct stat now;
  if (fstat(fd, &now) != 0) abort();
  pthread_mutex_lock(&lock);
  files[fd].path = strdup(path);
  files[fd].device = now.st_dev;
  files[fd].inode = now.st_ino;
  files[fd].reported = failures_of(now.st_ino, 0);
  pthread_mutex_unlock(&lock);
}

#define OPEN(name)                                              \
  int name(const char *path, int flags, ...) {                  \
    REAL(name);                                                 \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    mode_t mode = va_arg(rest, mode_t);                         \
    va_end(rest);                                               \
    int fd = real(path, flags, mode);                           \
    opened(fd, path);                                           \
    if ((flags & O_TRUNC) && path_of(fd)) record('T', 0, path, 0, NULL, 0); \
    return fd;                                                  \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(close);
  if (path_of(fd)) {
    pthread_mutex_lock(&lock);
    free(files[fd].path);
    files[fd].path = NULL;
    pthread_mutex_unlock(&lock);
  }
  return real(fd);
}

static int refuses(int fd, off_t end) {
  struct stat now;
  if (wants(FAIL_WRITE)) return errno = EIO, 1;
  if (wants(NO_SPACE) && fstat(fd, &now) == 0 && end > now.st_size) return errno = ENOSPC, 1;
  return 0;
}

#define PWRITE(name, type)                                              \
  ssize_t name(int fd, const void *data, size_t length, type offset) {  \
    REAL(name);                                                         \
    const char *path = path_of(fd);                                     \
    if (!path) return real(fd, data, length, offset);                   \
    if (refuses(fd, offset + length)) return -1;                        \
    pthread_mutex_lock(&lock);                                          \
    ssize_t written = real(fd, data, length, offset);                   \
    if (written > 0) record('W', 0, path, offset, data, written);       \
    pthread_mutex_unlock(&lock);                                        \
    return written;                                                     \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
  REAL(write);
  const char *path = path_of(fd);
  if (!path) return real(fd, data, length);
  /* A file that was opened for appending is written at its end. */
  off_t offset = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
  if (refuses(fd, offset + length)) return -1;
  pthread_mutex_lock(&lock);
  ssize_t written = real(fd, data, length);
  if (written > 0) record('W', 0, path, offset, data, written);
  pthread_mutex_unlock(&lock);
  return written;
}

static int synced(int fd, int (*real)(int)) {
  const char *path = path_of(fd);
  if (!path) return real(fd);
  struct stat now;
  if (wants(FAIL_FOLDER_SYNC) && fstat(fd, &now) == 0 && S_ISDIR(now.st_mode)) return errno = EIO, -1;
  pthread_mutex_lock(&lock);
  int outcome = 0;
  /* The trace defines what is on the disk; waiting for the disk of this machine would add nothing. */
  size_t length = strlen(path);
  int is_database = length > 3 && strcmp(path + length - 3, ".db") == 0;
  int32_t number = __atomic_fetch_add(&control->syncs, 1, __ATOMIC_SEQ_CST);
  int is_chosen = number >= control->first && number - control->first < control->count;
  if (__atomic_exchange_n(&control->next, 0, __ATOMIC_SEQ_CST)) is_chosen = 1;
  if (is_chosen || wants(FAIL_SYNC) || (is_database && wants(FAIL_FILE_SYNC))) {
    failures_of(files[fd].inode, 1);
    record('S', 1, path, 0, NULL, 0);
  } else {
    record('S', 0, path, 0, NULL, 0);
  }
  uint64_t failures = failures_of(files[fd].inode, 0);
  if (files[fd].reported < failures) {
    files[fd].reported = failures;
    errno = EIO;
    outcome = -1;
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}

int fsync(int fd) { REAL(fsync); return synced(fd, real); }
int fdatasync(int fd) { REAL(fdatasync); return synced(fd, real); }

#define TRUNCATE(name, type)                                  \
  int name(int fd, type length) {                             \
    REAL(name);                                               \
    const char *path = path_of(fd);                           \
    if (path && refuses(fd, length)) return -1;               \
    pthread_mutex_lock(&lock);                                \
    int outcome = real(fd, length);                           \
    if (path && outcome == 0) record('T', 0, path, length, NULL, 0); \
    pthread_mutex_unlock(&lock);                              \
    return outcome;                                           \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int unlink(const char *path) {
  REAL(unlink);
  pthread_once(&once, prepare);
  int outcome = real(path);
  if (outcome == 0 && folder_length && strncmp(path, folder, folder_length) == 0) record('U', 0, path, 0, NULL, 0);
  return outcome;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  pthread_once(&once, prepare);
  int outcome = real(from, to);
  if (outcome == 0 && folder_length && strncmp(to, folder, folder_length) == 0)
    record('R', 0, from, 0, to, strlen(to));
  return outcome;
}

int link(const char *from, const char *to) {
  REAL(link);
  pthread_once(&once, prepare);
  int outcome = real(from, to);
  if (outcome == 0 && folder_length && strncmp(to, folder, folder_length) == 0)
    record('L', 0, from, 0, to, strlen(to));
  return outcome;
}
