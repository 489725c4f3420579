/* A driver that says what a script says: the text file beside this library,
 * `<library>.script`, read anew at every call, so that a test can change its
 * mind. Lines of a key and a value:
 *
 *   init CODE                  what nvmlInit answers
 *   count CODE                 what nvmlDeviceGetCount answers instead of 0
 *   hang CALL                  that call sleeps while the line is there
 *   card UUID                  the next card; what follows is about it
 *   name TEXT                  its name (default "Stub GPU")
 *   fail CALL CODE             what that call answers for this card
 *   total N, free N, busy N    its memory in bytes and utilisation in percent
 *   mig                        it is in MIG mode
 *   instance UUID              one of its instances; what follows is about it
 *
 * CALL is handle, uuid, name, memory, util, mode. Handles are 100 * card, and
 * that plus the instance's place (from 1). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { long id; } *dev;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } mem_v2;
typedef struct { unsigned gpu, memory; } util_t;
typedef struct {
	char uuid[96], name[96];
	unsigned long long total, free, busy;
	int mig, fail[8];
} unit;
enum { HANDLE, UUID, NAME, MEMORY, UTIL, MODE, COUNT, INIT, CALLS };
static const char *calls[CALLS] = { "handle", "uuid", "name", "memory", "util", "mode", "count", "init" };

static struct { int init, count_code, cards, hang[CALLS]; unit u[16][9]; int n[16]; } s;

static int call_of(const char *name) {
	for (int i = 0; i < CALLS; i++) if (!strcmp(name, calls[i])) return i;
	return HANDLE;
}

static void fresh(unit *u, const char *uuid) {
	memset(u, 0, sizeof *u);
	snprintf(u->uuid, sizeof u->uuid, "%s", strcmp(uuid, "-") ? uuid : "");
	strcpy(u->name, "Stub GPU");
	u->total = 8000000000ull; u->free = 6000000000ull; u->busy = 25;
}

static void load(void) {
	Dl_info info; char path[4096], line[256], key[32], a[96], b[96];
	memset(&s, 0, sizeof s);
	dladdr((void *)load, &info);
	snprintf(path, sizeof path, "%s.script", info.dli_fname);
	FILE *f = fopen(path, "r");
	if (!f) return;
	unit *u = NULL;
	while (fgets(line, sizeof line, f)) {
		a[0] = b[0] = 0;
		if (sscanf(line, "%31s %95s %95s", key, a, b) < 1) continue;
		if (!strcmp(key, "init")) s.init = atoi(a);
		else if (!strcmp(key, "count")) s.count_code = atoi(a);
		else if (!strcmp(key, "hang")) s.hang[call_of(a)] = 1;
		else if (!strcmp(key, "card") && s.cards < 16) {
			u = &s.u[s.cards++][0]; fresh(u, a);
		} else if (!strcmp(key, "instance") && s.cards && s.n[s.cards - 1] < 8) {
			u = &s.u[s.cards - 1][++s.n[s.cards - 1]]; fresh(u, a);
		} else if (!u) continue;
		else if (!strcmp(key, "name")) snprintf(u->name, sizeof u->name, "%s", strcmp(a, "-") ? a : "");
		else if (!strcmp(key, "fail")) u->fail[call_of(a)] = atoi(b);
		else if (!strcmp(key, "total")) u->total = strtoull(a, 0, 10);
		else if (!strcmp(key, "free")) u->free = strtoull(a, 0, 10);
		else if (!strcmp(key, "busy")) u->busy = strtoull(a, 0, 10);
		else if (!strcmp(key, "mig")) u->mig = 1;
	}
	fclose(f);
}

static void enter(int call) {
	load();
	while (s.hang[call]) { usleep(10000); load(); }
}

static unit *at(dev d) { long h = (long)d; return &s.u[h / 100 - 1][h % 100]; }

static int begin(dev d, int call) { enter(call); return at(d)->fail[call]; }

int nvmlInit_v2(void) { enter(INIT); return s.init; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { (void)code; return "stub"; }
int nvmlSystemGetDriverVersion(char *to, unsigned n) { snprintf(to, n, "550.1"); return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { enter(COUNT); *n = s.cards; return s.count_code; }

int nvmlDeviceGetHandleByIndex_v2(unsigned i, dev *d) {
	enter(HANDLE);
	if ((int)i >= s.cards) return 2;
	*d = (dev)(long)(100 * (i + 1));
	return s.u[i][0].fail[HANDLE];
}

int nvmlDeviceGetUUID(dev d, char *to, unsigned n) {
	int code = begin(d, UUID);
	if (!code) snprintf(to, n, "%s", at(d)->uuid);
	return code;
}

int nvmlDeviceGetName(dev d, char *to, unsigned n) {
	int code = begin(d, NAME);
	if (!code) snprintf(to, n, "%s", at(d)->name);
	return code;
}

#ifndef OLD_DRIVER
int nvmlDeviceGetMemoryInfo_v2(dev d, mem_v2 *m) {
	int code = begin(d, MEMORY);
	m->total = at(d)->total; m->free = at(d)->free; m->used = m->total - m->free;
	return code;
}

int nvmlDeviceGetMigMode(dev d, unsigned *now, unsigned *next) {
	int code = begin(d, MODE);
	*now = *next = at(d)->mig;
	return code;
}

int nvmlDeviceGetMaxMigDeviceCount(dev d, unsigned *n) { (void)d; load(); *n = 7; return 0; }

int nvmlDeviceGetMigDeviceHandleByIndex(dev d, unsigned i, dev *to) {
	load();
	long h = (long)d;
	if ((int)i >= s.n[h / 100 - 1]) return 6;
	*to = (dev)(h + i + 1);
	return 0;
}
#endif

int nvmlDeviceGetUtilizationRates(dev d, util_t *u) {
	int code = begin(d, UTIL);
	u->gpu = at(d)->busy; u->memory = 0;
	return code;
}
