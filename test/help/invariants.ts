// Has our own code throw where it breaks a rule that production rides out, and the test fail whose code did.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { invariants } from '../../src/base/invariants.ts'

const found: Error[] = []

invariants.violated = what => {
  const error = new Error(what)
  found.push(error)
  throw error
}

/** Fails the test when it ends, if any rule was broken until then. */
export function forbidViolations(t: TestContext): void {
  t.after(() => assert.deepEqual(found.splice(0), []))
}
