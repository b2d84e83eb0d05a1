/* The assembler text of kernels: PTX, an instruction each, or some that are known as a whole. */
#include <vector>

#include "blocks.h"
#include "copies.h"

namespace emulated
{

/* An argument of the instruction: an operand by its number, or a number. */
struct argument {
    bool is_operand;
    uint64_t value;
};

typedef void handler(const instruction &instruction, operand *operands);

struct instruction {
    handler *run;
    const char *text;                /* the table's */
    std::vector<argument> arguments; /* in the text's order, lists of registers included */
    uint64_t get(size_t i, const operand *operands) const
    {
        return arguments[i].is_operand ? operands[arguments[i].value].value : arguments[i].value;
    }
    template <class T> void set(size_t i, operand *operands, T value) const
    {
        memcpy(operands[arguments[i].value].at, &value, operands[arguments[i].value].bytes);
    }
};

namespace
{

/* ---- products of matrices by a warp (PTX ISA, "Matrix Fragments for mma") ---- */

template <class A, class B, int ROWS, int K> void multiply(const instruction &own, operand *operands)
{
    constexpr int HALVES = ROWS / 8, PARTS = K / 16, OF_D = 2 * HALVES, OF_A = HALVES * PARTS;
    uint32_t words[OF_A + PARTS];
    for (int i = 0; i < OF_A + PARTS; i++)
        words[i] = (uint32_t)own.get((size_t)(OF_D + i), operands);
    const given all = meet(~0u, own.text, words, sizeof words);
    const unsigned row = lane() / 4, column = lane() % 4 * 2;
    for (int i = 0; i < OF_D; i++) {
        uint32_t sum = (uint32_t)own.get((size_t)(OF_D + OF_A + PARTS + i), operands);
        for (int part = 0; part < PARTS; part++) {
            for (unsigned four = 0; four < 4; four++)
                sum = dot<A, B>(all[row * 4 + four][i / 2 + HALVES * part],
                                all[(column + (unsigned)i % 2) * 4 + four][OF_A + part], sum);
        }
        own.set((size_t)i, operands, sum);
    }
}

/* ---- arithmetic ---- */

uint32_t word(const instruction &own, size_t i, const operand *operands) { return (uint32_t)own.get(i, operands); }

float number(const instruction &own, size_t i, const operand *operands)
{
    return bits_as<float>(word(own, i, operands));
}

/* The lesser or the greater of two floats. -0 is below 0, and NaN is above all, so that the lesser is NaN only if both
 * are. */
float chosen_float(const instruction &own, const operand *operands, bool lesser)
{
    const float a = number(own, 1, operands), b = number(own, 2, operands);
    if (isnan(a) || isnan(b))
        return isnan(a) == lesser ? b : a;
    return (a < b || (a == b && signbit(a))) == lesser ? a : b;
}

int saturate16(uint32_t v) { return max(min((int)v, 32767), -32768); }

int saturate8(uint32_t v) { return max(min((int)v, 255), 0); }

bar *bar_at(uint64_t address) { return (bar *)shared_at((uint32_t)address, sizeof(bar)); }

struct {
    const char *text; /* the beginning of an instruction */
    handler *run;
} const known[] = {
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", multiply<uint8_t, uint8_t, 16, 32>},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", multiply<int8_t, uint8_t, 16, 32>},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", multiply<uint8_t, int8_t, 16, 32>},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", multiply<int8_t, int8_t, 16, 32>},
    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", multiply<uint8_t, uint8_t, 16, 16>},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32", multiply<int8_t, uint8_t, 16, 16>},
    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", multiply<uint8_t, int8_t, 16, 16>},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", multiply<int8_t, int8_t, 16, 16>},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", multiply<uint8_t, uint8_t, 8, 16>},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", multiply<int8_t, uint8_t, 8, 16>},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", multiply<uint8_t, int8_t, 8, 16>},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", multiply<int8_t, int8_t, 8, 16>},
    {"dp2a.lo.s32.u32",
     [](const instruction &i, operand *o) {
         i.set(0, o, dot<int16_t, uint8_t>(word(i, 1, o), word(i, 2, o), word(i, 3, o)));
     }},
    {"dp2a.hi.s32.u32",
     [](const instruction &i, operand *o) {
         i.set(0, o, dot<int16_t, uint8_t>(word(i, 1, o), word(i, 2, o), word(i, 3, o), 2));
     }},
    {"dp4a.u32.s32",
     [](const instruction &i, operand *o) {
         i.set(0, o, dot<uint8_t, int8_t>(word(i, 1, o), word(i, 2, o), word(i, 3, o)));
     }},
    {"cvt.pack.sat.s16.s32",
     [](const instruction &i, operand *o) {
         i.set(0, o, (uint32_t)saturate16(word(i, 1, o)) << 16 | ((uint32_t)saturate16(word(i, 2, o)) & 0xFFFF));
     }},
    {"cvt.pack.sat.u8.s32.b32",
     [](const instruction &i, operand *o) {
         i.set(0, o, word(i, 3, o) << 16 | (uint32_t)saturate8(word(i, 1, o)) << 8 | (uint32_t)saturate8(word(i, 2, o)));
     }},
    {"prmt.b32",
     [](const instruction &i, operand *o) { i.set(0, o, permute(word(i, 1, o), word(i, 2, o), word(i, 3, o))); }},
    {"ex2.approx.ftz.f32", [](const instruction &i, operand *o) { i.set(0, o, exp2f(number(i, 1, o)) < 0x1p-126f ? 0.0f : exp2f(number(i, 1, o))); }},
    {"rsqrt.approx.ftz.f32", [](const instruction &i, operand *o) { i.set(0, o, rsqrtf(number(i, 1, o))); }},
    {"rcp.approx.ftz.f32", [](const instruction &i, operand *o) { i.set(0, o, 1.0f / number(i, 1, o)); }},
    {"min.f32", [](const instruction &i, operand *o) { i.set(0, o, chosen_float(i, o, true)); }},
    {"max.NaN.f32", [](const instruction &i, operand *o) { i.set(0, o, chosen_float(i, o, false)); }},
    /* The upper word of the quotient. */
    {"rcp.approx.ftz.f64",
     [](const instruction &i, operand *o) {
         i.set(0, o, bits_as<uint64_t>(1 / bits_as<double>((uint64_t)i.get(1, o))) & ~(uint64_t)UINT32_MAX);
     }},
    {"ld.shared.f32",
     [](const instruction &i, operand *o) { i.set(0, o, *(const float *)shared_at(word(i, 1, o), 4)); }},
    {"ld.shared.u32",
     [](const instruction &i, operand *o) { i.set(0, o, *(const uint32_t *)shared_at(word(i, 1, o), 4)); }},
    {"ld.shared.u16",
     [](const instruction &i, operand *o) { i.set(0, o, (uint32_t) * (const uint16_t *)shared_at(word(i, 1, o), 2)); }},
    {"ld.shared.u8",
     [](const instruction &i, operand *o) { i.set(0, o, (uint32_t) * (const uint8_t *)shared_at(word(i, 1, o), 1)); }},
    /* Followed by selp. */
    {"setp.gt.f32", [](const instruction &i,
                       operand *o) { i.set(2, o, number(i, 0, o) > number(i, 1, o) ? word(i, 3, o) : word(i, 4, o)); }},
    {"prefetch.global.L2", [](const instruction &, operand *) {}},
    {"fence.", [](const instruction &, operand *) {}},
    {"mad.hi.s32",
     [](const instruction &i, operand *o) {
         const int64_t product = (int64_t)(int32_t)word(i, 1, o) * (int32_t)word(i, 2, o);
         i.set(0, o, word(i, 3, o) + (uint32_t)(product >> 32));
     }},
    {"griddepcontrol.", [](const instruction &, operand *) {}}, /* kernels run one after another */
    {"mbarrier.init.shared::cta.b64",
     [](const instruction &i, operand *o) { bar_init(bar_at(i.get(0, o)), word(i, 1, o)); }},
    {"mbarrier.arrive.expect_tx.shared::cta.b64",
     [](const instruction &i, operand *o) { bar_expect(bar_at(i.get(0, o)), word(i, 1, o)); }},
    /* Followed by selp, whose first argument becomes 1 if the round has ended. */
    {"mbarrier.try_wait.parity.shared::cta.b64",
     [](const instruction &i, operand *o) { i.set(2, o, (uint32_t)bar_try_wait(bar_at(i.get(0, o)), word(i, 1, o))); }},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
     [](const instruction &i, operand *o) {
         load_box(word(i, 0, o), (const void *)i.get(1, o), (int)word(i, 2, o), (int)word(i, 3, o),
                  bar_at(i.get(4, o)));
     }},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
     [](const instruction &i, operand *o) {
         store_box((const void *)i.get(0, o), (int)word(i, 1, o), (int)word(i, 2, o), word(i, 3, o));
     }},
    {"cp.async.bulk.commit_group", [](const instruction &, operand *) {}},
    {"cp.async.bulk.wait_group.read 0", [](const instruction &, operand *) { finish_stores(); }},
};

} // namespace

/* NULL: no instruction. */
const instruction *parse_ptx(const char *text)
{
    if (!*text)
        return nullptr;
    for (const auto &it : known) {
        const char *const found = strstr(text, it.text);
        if (!found)
            continue;
        instruction *const parsed = new instruction{it.run, it.text, {}};
        for (const char *at = found + strcspn(found, " ;"); *at;) {
            const size_t length = strcspn(at, " ,;{}[]\n");
            char *end;
            const uint64_t value = strtoull(at + (*at == '%'), &end, 0);
            if (length && end == at + length)
                parsed->arguments.push_back({*at == '%', value});
            at += length ? length : 1;
        }
        return parsed;
    }
    die("the emulator does not know this instruction (tests/emulator/ptx.cpp): %s", text);
}

void run_ptx(const instruction *instruction, operand *operands, int count)
{
    for (const argument &it : instruction->arguments) {
        if (it.is_operand && it.value >= (uint64_t)count)
            die("%s has %d operands only", instruction->text, count);
    }
    instruction->run(*instruction, operands);
}

} // namespace emulated
