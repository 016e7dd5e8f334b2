// A fixed amount of pure computing for overhead measurements and exact counts: many functions, blocks and call depths, the
// same on every CPU, no interrupts and no clock inside. Its checksum is the same on every CPU and architecture.
#include "counted.h"
#include "sched.h"

#define ROUNDS 200
#define SHARE_UNIT 12503
#define SORT_ITEMS 4096
#define MATRIX_SIDE 40
#define TABLE_SLOTS 8192
#define TREE_NODES 2048
#define TEXT_BYTES 16384
#define SIEVE_LIMIT 16384

struct tree_node {
  u64 key;
  u16 left;
  u16 right;
};

// One per CPU, so that the CPUs share nothing.
struct workspace {
  u64 random;
  u64 items[SORT_ITEMS];
  u64 left[MATRIX_SIDE][MATRIX_SIDE];
  u64 right[MATRIX_SIDE][MATRIX_SIDE];
  u64 product[MATRIX_SIDE][MATRIX_SIDE];
  u64 slots[TABLE_SLOTS];
  struct tree_node nodes[TREE_NODES + 1];
  u8 text[TEXT_BYTES];
  u8 composite[SIEVE_LIMIT];
  u32 crc_table[256];
  u64 checksum;
  u64 ns;
};
static struct workspace workspaces[MAX_CPUS];

static const char* const share_names[] = {"share_10", "share_20", "share_30", "share_40"};

static NOINLINE u64 next_random(struct workspace* work) {
  work->random ^= work->random << 13;
  work->random ^= work->random >> 7;
  work->random ^= work->random << 17;
  return work->random;
}

static NOINLINE void swap_items(u64* left, u64* right) {
  const u64 kept = *left;
  *left = *right;
  *right = kept;
}

static NOINLINE void insertion_sort(u64* items, u64 count) {
  for (u64 i = 1; i < count; i++) {
    for (u64 j = i; j && items[j - 1] > items[j]; j--) swap_items(&items[j - 1], &items[j]);
  }
}

static NOINLINE u64 partition(u64* items, u64 count) {
  swap_items(&items[count / 2], &items[count - 1]);
  const u64 pivot = items[count - 1];
  u64 small = 0;
  for (u64 i = 0; i + 1 < count; i++) {
    if (items[i] < pivot) swap_items(&items[i], &items[small++]);
  }
  swap_items(&items[small], &items[count - 1]);
  return small;
}

static NOINLINE void sort(u64* items, u64 count) {
  if (count < 12) {
    insertion_sort(items, count);
    return;
  }
  const u64 middle = partition(items, count);
  sort(items, middle);
  sort(items + middle + 1, count - middle - 1);
}

static NOINLINE u64 stage_sort(struct workspace* work) {
  for (u64 i = 0; i < SORT_ITEMS; i++) work->items[i] = next_random(work);
  sort(work->items, SORT_ITEMS);
  return work->items[SORT_ITEMS / 3] ^ work->items[SORT_ITEMS - 1];
}

static NOINLINE u64 dot(const struct workspace* work, u64 row, u64 column) {
  u64 sum = 0;
  for (u64 i = 0; i < MATRIX_SIDE; i++) sum += work->left[row][i] * work->right[i][column];
  return sum;
}

static NOINLINE u64 stage_matrix(struct workspace* work) {
  u64 trace = 0;
  for (u64 i = 0; i < MATRIX_SIDE * MATRIX_SIDE; i++) {
    work->left[i / MATRIX_SIDE][i % MATRIX_SIDE] = next_random(work);
    work->right[i % MATRIX_SIDE][i / MATRIX_SIDE] = i * i;
  }
  for (u64 row = 0; row < MATRIX_SIDE; row++) {
    for (u64 column = 0; column < MATRIX_SIDE; column++) work->product[row][column] = dot(work, row, column);
    trace += work->product[row][row];
  }
  return trace;
}

static NOINLINE u64 hash_key(u64 key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdul;
  return key ^ key >> 29;
}

static NOINLINE u64 find_slot(const struct workspace* work, u64 key) {
  u64 slot = hash_key(key) % TABLE_SLOTS;
  while (work->slots[slot] && work->slots[slot] != key) slot = (slot + 1) % TABLE_SLOTS;
  return slot;
}

static NOINLINE u64 stage_table(struct workspace* work) {
  u64 found = 0;
  for (u64 i = 0; i < TABLE_SLOTS; i++) work->slots[i] = 0;
  for (u64 i = 0; i < TABLE_SLOTS / 2; i++) {
    const u64 key = next_random(work) % 6007 + 1;
    work->slots[find_slot(work, key)] = key;
  }
  for (u64 key = 1; key < 6007; key++) found += work->slots[find_slot(work, key)] == key ? key : 0;
  return found;
}

static NOINLINE u16 insert_node(struct workspace* work, u16 root, u16 fresh) {
  if (!root) return fresh;
  struct tree_node* node = &work->nodes[root];
  if (work->nodes[fresh].key < node->key) {
    node->left = insert_node(work, node->left, fresh);
  } else {
    node->right = insert_node(work, node->right, fresh);
  }
  return root;
}

static NOINLINE u64 sum_depths(const struct workspace* work, u16 root, u64 depth) {
  if (!root) return 0;
  const struct tree_node* node = &work->nodes[root];
  return depth + sum_depths(work, node->left, depth + 1) + sum_depths(work, node->right, depth + 1);
}

static NOINLINE u64 stage_tree(struct workspace* work) {
  u16 root = 0;
  for (u16 i = 1; i <= TREE_NODES; i++) {
    work->nodes[i] = (struct tree_node){.key = next_random(work)};
    root = insert_node(work, root, i);
  }
  return sum_depths(work, root, 1);
}

static NOINLINE void make_crc_table(struct workspace* work) {
  for (u32 i = 0; i < 256; i++) {
    u32 value = i;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
    work->crc_table[i] = value;
  }
}

static NOINLINE u32 crc_of(const struct workspace* work, const u8* bytes, u64 count) {
  u32 crc = ~0u;
  for (u64 i = 0; i < count; i++) crc = work->crc_table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
  return ~crc;
}

static NOINLINE u64 count_words(const u8* text, u64 count) {
  u64 words = 0;
  bool inside = false;
  for (u64 i = 0; i < count; i++) {
    const bool letter = text[i] >= 'a';
    if (letter && !inside) words++;
    inside = letter;
  }
  return words;
}

static NOINLINE u64 stage_text(struct workspace* work) {
  make_crc_table(work);
  for (u64 i = 0; i < TEXT_BYTES; i++) work->text[i] = (u8)(' ' + next_random(work) % 90);
  return crc_of(work, work->text, TEXT_BYTES) + count_words(work->text, TEXT_BYTES);
}

static NOINLINE u64 stage_sieve(struct workspace* work) {
  u64 primes = 0;
  for (u64 i = 0; i < SIEVE_LIMIT; i++) work->composite[i] = 0;
  for (u64 i = 2; i < SIEVE_LIMIT; i++) {
    if (work->composite[i]) continue;
    primes++;
    for (u64 j = i * i; j < SIEVE_LIMIT; j += i) work->composite[j] = 1;
  }
  return primes;
}

// Thirty-two small functions with bodies of different lengths, called through a table as a kernel calls its operations.
#define OPERATION(n)                                                                              \
  static NOINLINE u64 operation_##n(u64 value) {                                                  \
    for (u64 i = 0; i < (n) % 7 + 1; i++) value = (value << ((n) % 31 + 1)) ^ (value >> 5) ^ (n); \
    return (n) % 3 ? value * (2 * (n) + 1) : value + (n);                                         \
  }
#define FOUR(what, a, b, c, d) what(a) what(b) what(c) what(d)
#define ALL_OPERATIONS(what) \
  FOUR(what, 1, 2, 3, 4)     \
  FOUR(what, 5, 6, 7, 8)     \
  FOUR(what, 9, 10, 11, 12)  \
  FOUR(what, 13, 14, 15, 16) \
  FOUR(what, 17, 18, 19, 20) \
  FOUR(what, 21, 22, 23, 24) \
  FOUR(what, 25, 26, 27, 28) \
  FOUR(what, 29, 30, 31, 32)
ALL_OPERATIONS(OPERATION)
#define ENTRY(n) operation_##n,
static u64 (*const operations[])(u64) = {ALL_OPERATIONS(ENTRY)};

// A chain of ten, as deep as a kernel's path from a system call to its driver.
static NOINLINE u64 layer_10(u64 value) { return operations[value % ARRAY_LENGTH(operations)](value) + 10; }
#define LAYER(n, next)                                              \
  static NOINLINE u64 layer_##n(u64 value) {                        \
    if (value % (n + 12) == 0) return value + (n);                  \
    return layer_##next(value * 6364136223846793005ul + (n)) ^ (n); \
  }
LAYER(9, 10)
LAYER(8, 9)
LAYER(7, 8)
LAYER(6, 7)
LAYER(5, 6)
LAYER(4, 5)
LAYER(3, 4)
LAYER(2, 3)
LAYER(1, 2)

static NOINLINE u64 stage_layers(struct workspace* work) {
  u64 mixed = 0;
  for (u64 i = 0; i < 10000; i++) mixed += layer_1(next_random(work));
  return mixed;
}

static NOINLINE void stage_shares(void) {
  share_10(1 * SHARE_UNIT);
  share_20(2 * SHARE_UNIT);
  share_30(3 * SHARE_UNIT);
  share_40(4 * SHARE_UNIT);
}

static NOINLINE u64 compute_round(struct workspace* work) {
  u64 sum = stage_sort(work);
  sum = sum * 31 + stage_matrix(work);
  sum = sum * 31 + stage_table(work);
  sum = sum * 31 + stage_tree(work);
  sum = sum * 31 + stage_text(work);
  sum = sum * 31 + stage_sieve(work);
  sum = sum * 31 + stage_layers(work);
  stage_shares();
  return sum;
}

static NOINLINE void compute(struct workspace* work) {
  work->random = 88172645463325252ul;
  for (u64 round = 0; round < ROUNDS; round++) work->checksum = work->checksum * 31 + compute_round(work);
}

static void compute_task(void* argument) {
  (void)argument;
  struct workspace* work = &workspaces[this_cpu()->number];
  const u64 flags = arch_irq_save();
  const u64 start_ns = arch_clock_ns();
  compute(work);
  work->ns = arch_clock_ns() - start_ns;
  arch_irq_restore(flags);
}

static void run_compute(void) {
  run_on_all_cpus("compute", compute_task, NULL);
  FOR_EACH_CPU(cpu) {
    for (u64 i = 0; i < ARRAY_LENGTH(share_names); i++) {
      const u64 iterations = ROUNDS * (i + 1) * SHARE_UNIT;
      print("QG share cpu=%u name=%s calls=%u iterations=%lu insns=%lu\n", cpu->number, share_names[i], ROUNDS, iterations,
            ROUNDS * ARCH_COUNTED_FIXED_INSNS + iterations * ARCH_LOOP_INSNS);
    }
    const struct workspace* work = &workspaces[cpu->number];
    print("QG compute cpu=%u rounds=%u checksum=0x%lx ns=%lu\n", cpu->number, ROUNDS, work->checksum, work->ns);
  }
}

const struct workload workload = {.name = "compute", .tick_period_ns = 0, .run = run_compute};
