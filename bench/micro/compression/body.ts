// A body as compression meets it: a list of things in JSON, with words, numbers and repeats.

const words =
  'amber basin cedar delta ember fjord grove haven islet knoll ledge marsh north oasis prism quartz ridge slope tundra vale'
const word = (n: number) => words.split(' ')[n % 20]!

/** Returns so many bytes of it, always the same. */
export function body(size: number): Buffer {
  const lines: string[] = []
  for (let n = 1, length = 0; length < size; n = (n * 48_271) % 2_147_483_647) {
    const line = `{"id":${n},"name":"${word(n >> 3)} ${word(n >> 8)}","price":${(n % 10_000) / 100},"tags":["${word(n >> 13)}","${word(n >> 17)}"],"inStock":${n % 3 > 0}}\n`
    lines.push(line)
    length += line.length
  }
  return Buffer.from(lines.join('')).subarray(0, size)
}
