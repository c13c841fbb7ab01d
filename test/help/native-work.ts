// Counts the work that texts and tables are asked for while something runs, whoever asks: so that a test need not believe what the code says of itself.

type Call = (this: never, ...args: never[]) => unknown

interface Counted {
  /** Where the function is. */
  readonly of: object
  readonly name: string
  /** Steps of some 25 ns that a call takes at worst. */
  readonly steps: (self: { readonly length: number }, ...args: readonly unknown[]) => number
}

const characters = (each: number) => (self: { readonly length: number }) => 1 + self.length / each
const compared = (_self: unknown, text: unknown) => 1 + String(text).length / 32

const functions: readonly Counted[] = [
  { of: String.prototype, name: 'indexOf', steps: characters(6) },
  { of: String.prototype, name: 'lastIndexOf', steps: characters(6) },
  { of: String.prototype, name: 'includes', steps: characters(6) },
  { of: String.prototype, name: 'startsWith', steps: compared },
  { of: String.prototype, name: 'endsWith', steps: compared },
  { of: String.prototype, name: 'split', steps: characters(2) },
  { of: String.prototype, name: 'toLowerCase', steps: characters(20) },
  { of: String.prototype, name: 'toUpperCase', steps: characters(20) },
  { of: String.prototype, name: 'trim', steps: characters(20) },
  { of: String.prototype, name: 'charCodeAt', steps: () => 1 / 16 },
  { of: Map.prototype, name: 'get', steps: () => 1 },
  { of: Set.prototype, name: 'has', steps: () => 1 },
]

/** Runs something; returns the steps that it took of these functions. */
export function nativeWork(run: () => void): number {
  let sum = 0
  const restore = functions.map(({ of, name, steps }) => {
    const target = of as Record<string, Call>
    const original = target[name]!
    target[name] = function (this: never, ...args: never[]) {
      sum += steps(this as unknown as { length: number }, ...args)
      return original.apply(this, args)
    }
    return () => void (target[name] = original)
  })
  try {
    run()
  } finally {
    for (const undo of restore) undo()
  }
  return sum
}
