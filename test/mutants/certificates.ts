// Mutations of certificates that are got by ACME.

import type { Mutated } from './mutation.ts'

export const certificates: readonly Mutated[] = [
  {
    file: 'certificates/acme/attempt.ts',
    tests: ['certificates/acme/orders'],
    changes: [
      {
        text: "return found.status === 'invalid' ? null : { order: found, key }",
        becomes: 'return { order: found, key }',
        breaks: 'an order that has expired is gone on with, and leads to nothing',
      },
      {
        text: 'const keyAuthorization = await authority.keyAuthorization(challenge)',
        becomes: 'const keyAuthorization = `${token}.wrong`',
        breaks: 'the authority gets a wrong key authorization',
      },
    ],
  },
  {
    file: 'certificates/acme/lease.ts',
    tests: ['certificates/acme/lease'],
    changes: [
      {
        text: 'if (!isOurs || current === null) throw new LeaseLost()',
        becomes: 'if (current === null) throw new LeaseLost()',
        breaks: 'a gateway that has lost an order goes on with it',
      },
      {
        text: 'if (this.#isOver) throw new LeaseLost()',
        becomes: '',
        breaks: 'a gateway writes to an order that it has given back',
      },
    ],
  },
  {
    file: 'certificates/acme/known-certificates.ts',
    tests: ['certificates/acme/known-certificates'],
    changes: [
      {
        text: 'this.#copy.write(() => ({ certificates }))',
        becomes: '',
        breaks: 'a start without Redis has no certificates',
      },
      {
        text: 'const kept = { ...record, order: null, lease: null }',
        becomes: 'const kept = record',
        breaks: 'the copy has the challenge of an order that other machines go on with',
      },
    ],
  },
  {
    file: 'certificates/automatic.ts',
    tests: ['edge/challenge'],
    changes: [
      {
        text: 'return challenge?.host === host ? challenge.keyAuthorization : null',
        becomes: 'return challenge?.keyAuthorization ?? null',
        breaks: 'the proof for one host can be read at another one',
      },
    ],
  },
  {
    file: 'store/local-copy.ts',
    tests: ['store/local-copy'],
    changes: [
      {
        text: 'if (copy.location !== location) throw',
        becomes: 'if (false) throw',
        breaks: 'what another store had is served',
      },
      {
        text: "await open(path, 'wx', 0o600)",
        becomes: "await open(path, 'wx')",
        breaks: 'others on the machine can read the copy',
      },
    ],
  },
]
