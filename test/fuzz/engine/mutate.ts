// New inputs from old ones: bytes, tokens, numbers, length fields, lines and pieces of other inputs.

type Random = () => number

/** What mutations draw from. */
export interface Material {
  readonly corpus: readonly Buffer[]
  readonly tokens: readonly Buffer[]
  readonly maxLength: number
}

type Mutation = (input: Buffer, random: Random, material: Material) => Buffer

/** Applies one to eight mutations; few are likelier. */
export function mutate(input: Buffer, random: Random, material: Material): Buffer {
  let result = input
  let count = 1 << (random() % 4)
  while (count-- > 0) {
    const mutation = mutations[random() % mutations.length]!
    result = mutation(result, random, material).subarray(0, material.maxLength)
  }
  return result === input ? Buffer.from(input) : result
}

const flipBit: Mutation = (input, random) => {
  const result = Buffer.from(input)
  if (result.length > 0) result[random() % result.length]! ^= 1 << (random() % 8)
  return result
}

const interestingBytes = [0, 1, 9, 10, 13, 32, 34, 44, 45, 48, 58, 59, 92, 0x7f, 0x80, 0xbf, 0xc3, 0xed, 0xff]

const setByte: Mutation = (input, random) => {
  const result = Buffer.from(input)
  const value = random() % 2 === 0 ? interestingBytes[random() % interestingBytes.length]! : random() % 256
  if (result.length > 0) result[random() % result.length] = value
  return result
}

const insertByte: Mutation = (input, random) => {
  const value = random() % 2 === 0 ? interestingBytes[random() % interestingBytes.length]! : random() % 256
  return put(input, random() % (input.length + 1), 0, Buffer.from([value]))
}

const insertToken: Mutation = (input, random, { tokens }) =>
  tokens.length === 0 ? input : put(input, random() % (input.length + 1), 0, pick(tokens, random))

const replaceByToken: Mutation = (input, random, { tokens }) => {
  if (tokens.length === 0) return input
  const at = random() % (input.length + 1)
  const token = pick(tokens, random)
  return put(input, at, random() % 2 === 0 ? token.length : random() % 8, token)
}

const remove: Mutation = (input, random) => {
  const [at, length] = range(input, random)
  return put(input, at, length, nothing)
}

const copyWithin: Mutation = (input, random) => {
  const [at, length] = range(input, random)
  const to = random() % (input.length + 1)
  return put(input, to, random() % 3 === 0 ? length : 0, input.subarray(at, at + length))
}

const repeat: Mutation = (input, random, { maxLength }) => {
  const [at, length] = range(input, random)
  if (length === 0) return input
  const times = Math.min(1 << (random() % 9), Math.ceil((maxLength - input.length) / length))
  if (times < 1) return input
  const part = input.subarray(at, at + length)
  return put(input, at, 0, Buffer.concat(Array.from({ length: times }, () => part)))
}

const splice: Mutation = (input, random, { corpus }) => {
  const other = pick(corpus, random)
  return Buffer.concat([
    input.subarray(0, random() % (input.length + 1)),
    other.subarray(random() % (other.length + 1)),
  ])
}

const insertFromOther: Mutation = (input, random, { corpus }) => {
  const other = pick(corpus, random)
  const [at, length] = range(other, random)
  return put(
    input,
    random() % (input.length + 1),
    random() % 2 === 0 ? 0 : length,
    other.subarray(at, at + length),
  )
}

const append: Mutation = (input, random, { corpus }) => Buffer.concat([input, pick(corpus, random)])

const truncate: Mutation = (input, random) => input.subarray(0, random() % (input.length + 1))

/** Changes a big-endian number of one to four bytes by little, or to a border. */
const lengthField: Mutation = (input, random) => {
  const size = 1 + (random() % 4)
  if (input.length < size) return input
  const result = Buffer.from(input)
  const at = random() % (result.length - size + 1)
  const max = 2 ** (8 * size) - 1
  const borders = [0, 1, max, max >>> 1, result.length - at - size, result.length]
  const near = result.readUIntBE(at, size) + (random() % 9) - 4
  const value = random() % 2 === 0 ? near : borders[random() % borders.length]!
  result.writeUIntBE(Math.min(Math.max(value, 0), max), at, size)
  return result
}

const numbers = [
  '0',
  '1',
  '-1',
  '255',
  '256',
  '65535',
  '65536',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '1e9',
  '0.5',
]

const asciiNumber: Mutation = (input, random) => {
  const places = Array.from(input.toString('latin1').matchAll(/\d+/g))
  if (places.length === 0) return input
  const { 0: digits, index } = places[random() % places.length]!
  const near = `${Number(digits.slice(0, 15)) + (random() % 5) - 2}`
  const number = random() % 2 === 0 ? near : numbers[random() % numbers.length]!
  return put(input, index, digits.length, Buffer.from(number))
}

const swapLines: Mutation = (input, random) => {
  const lines = input.toString('latin1').split('\n')
  const [a, b] = [random() % lines.length, random() % lines.length]
  ;[lines[a], lines[b]] = [lines[b]!, lines[a]!]
  return Buffer.from(lines.join('\n'), 'latin1')
}

const mutations: readonly Mutation[] = [
  flipBit,
  setByte,
  insertByte,
  insertToken,
  insertToken,
  insertToken,
  replaceByToken,
  replaceByToken,
  remove,
  remove,
  copyWithin,
  repeat,
  splice,
  insertFromOther,
  insertFromOther,
  append,
  truncate,
  lengthField,
  lengthField,
  asciiNumber,
  swapLines,
]

const nothing = Buffer.alloc(0)

function pick<T>(list: readonly T[], random: Random): T {
  return list[random() % list.length]!
}

/** Chooses a part of an input; short ones are likelier. */
function range(input: Buffer, random: Random): readonly [at: number, length: number] {
  const max = random() % 4 === 0 ? input.length : Math.min(input.length, 16)
  const length = max === 0 ? 0 : 1 + (random() % max)
  return [random() % (input.length - length + 1), length]
}

function put(input: Buffer, at: number, removed: number, added: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, at), added, input.subarray(at + removed)])
}
