// Makes callers meet, so that a test of a race always has one.

import type { TestContext } from 'node:test'

type Methods<K extends PropertyKey> = { [Key in K]: (...args: never[]) => Promise<unknown> }

/** Holds the results of the first `count` calls of a method until all have theirs: what their callers do next rests on the same state. */
export function meet<K extends PropertyKey>(
  t: TestContext,
  object: Methods<K>,
  method: K,
  count: number,
): void {
  const call = object[method].bind(object)
  const { promise: allMet, resolve } = Promise.withResolvers<void>()
  let calls = 0
  object[method] = async (...args) => {
    const result = await call(...args)
    if (++calls === count) resolve()
    if (calls <= count) await allMet
    return result
  }
  t.after(() => {
    if (calls < count) throw new Error(`${calls} of ${count} callers met`)
  })
}
