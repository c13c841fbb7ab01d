// The methods of strings, as V8 keeps them.

/**
 * Has V8 keep the methods of strings for reading again. A class that extends `String`, as one of ioredis does, has it keep them for changes, and from then on optimized code looks up
 * each method that it calls: a GET took 10,000 instructions more in the whole process. Calls of methods on String objects have V8 notice that they are read.
 */
export function settleStringMethods(): void {
  const text = Object('text') as string
  // Before some hundreds of calls, V8 notes nothing of a function.
  for (let i = 0; i < calls; i++) call(text)
}

const calls = 2_000

function call(text: string): number {
  return text.charCodeAt(0)
}
