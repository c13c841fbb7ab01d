// Has node:test tell by the context that Node carries along which test an error is of. Otherwise it follows each promise of a process to its
// end for that, which is a sixth of what tests cost. To be loaded before node:test.

import hooks, { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { isMainThread } from 'node:worker_threads'

const { createHook, executionAsyncId } = hooks

interface Scope {
  /** The one by which node:test knows a test. */
  readonly asyncId: number
}

/** The test that began what runs. */
const scopes = new AsyncLocalStorage<Scope>()
/** The one that began last. */
let last: Scope | null = null

/** Whose an error is that comes without a context, as from a socket: of what runs, since tests run one by one. */
let blamed: Scope | null = null

function asyncIdOfTest(): number {
  const scope = scopes.getStore() ?? blamed
  blamed = null
  return scope?.asyncId ?? executionAsyncId()
}

/** Lets node:test know its own tests alone. */
function createLightHook({ init }: hooks.HookCallbacks): hooks.AsyncHook {
  return createHook({
    init(asyncId, type, trigger, resource) {
      if (type === 'Test') init?.(asyncId, type, trigger, resource)
    },
    trackPromises: false,
  })
}

// What tests fork, and their threads, begin with the same options, and have no tests.
if (isMainThread && process.send === undefined) {
  tracingChannel('node.test').start.bindStore(scopes, () => (last = { asyncId: executionAsyncId() }))
  process.on('uncaughtExceptionMonitor', () => {
    blamed = last
  })
  Object.assign(hooks, { createHook: createLightHook, executionAsyncId: asyncIdOfTest })
  await import('node:test')
  Object.assign(hooks, { createHook, executionAsyncId })
}
