// Mutations of certificates: those of files, and those that are got by ACME.

import type { Mutated } from './mutation.ts'

export const certificates: readonly Mutated[] = [
  {
    file: 'config/shape/rules.ts',
    tests: ['config/settings/identity'],
    changes: [
      {
        text: 'if (keys.length > 1) return { flaw: `has ${keys.length} private keys: leave the one of the certificate` }\n  if (keys.some(isEncrypted)) return',
        becomes: 'if (keys.some(isEncrypted)) return',
        breaks: 'of two keys in a file, one is taken by chance',
      },
      {
        text: 'if (others.length > 0) return',
        becomes: 'if (false) return',
        breaks: 'what is neither certificate nor key is passed over',
      },
    ],
  },
  {
    file: 'tls/chain.ts',
    tests: ['tls/chain'],
    changes: [
      {
        text: 'if (certificate.checkIssued(issuer.certificate)) {',
        becomes: 'if (true) {',
        breaks: 'clients get certificates in an order in which they cannot check them',
      },
    ],
  },
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
      {
        text: 'if (!/^[\\w-]+$/.test(token)) throw',
        becomes: 'if (false) throw',
        breaks: 'an authority decides which path of a site says what',
        tests: ['certificates/acme/hostile-authority'],
      },
      {
        text: "if (!certificate.covers(host)) return 'is for other hosts'",
        becomes: '',
        breaks: 'a certificate for another host is served',
        tests: ['certificates/acme/hostile-authority'],
      },
      {
        text: "if (certificate.notAfter <= now) return 'has expired'",
        becomes: '',
        breaks: 'a certificate that has expired replaces a good one',
        tests: ['certificates/acme/hostile-authority'],
      },
      {
        text: 'Math.max(authority.pause ?? pause, pause * leastPart)',
        becomes: 'authority.pause ?? pause',
        breaks: 'an authority is asked without a pause',
        tests: ['certificates/acme/hostile-authority'],
      },
    ],
  },
  {
    file: 'certificates/acme/schedule.ts',
    tests: ['certificates/acme/hostile-authority'],
    changes: [
      {
        text: 'Math.max(earliest, Math.min(notAfter - part, renewal.at))',
        becomes: 'Math.min(notAfter - part, renewal.at)',
        breaks: 'an authority that always wants a renewal gets orders without end',
      },
      {
        text: 'Math.min(notAfter - part, renewal.at)',
        becomes: 'renewal.at',
        breaks: 'a certificate ends while its gateway waits for a window in the far future',
      },
    ],
  },
  {
    file: 'certificates/acme/orders.ts',
    tests: ['certificates/acme/hostile-authority'],
    changes: [
      {
        text: 'Math.min(longestWait, problem.retryAfter ?? 0)',
        becomes: 'problem.retryAfter ?? 0',
        breaks: 'an authority can put a renewal off for years',
      },
      {
        text: "return this.#refuse(lease, 'internal error', null, true)",
        becomes: 'throw failure',
        breaks: 'an order that meets a bug is repeated without a pause',
      },
      {
        text: 'if (this.#isInterrupted(failure) || isOfStore(failure)) throw failure',
        becomes: 'if (!(failure instanceof AcmeProblem)) throw failure',
        breaks: 'a certificate counts as failing since nobody could tell when it is to be renewed',
      },
    ],
  },
  {
    file: 'process/certificates/acme-authority.ts',
    tests: ['certificates/acme/hostile-authority'],
    changes: [
      {
        text: "if (this.#isSecure && !url.startsWith('https:'))",
        becomes: 'if (false)',
        breaks: 'an authority has requests sent in plain text, to where it likes',
      },
      {
        text: 'if (status >= 300) {',
        becomes: 'if (status >= 400) {',
        breaks: 'a redirect passes for a response',
      },
      {
        text: 'if (length > mostBytes)',
        becomes: 'if (length < 0)',
        breaks: 'a response without end fills the memory',
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
    file: 'certificates/acme/automatic.ts',
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
    file: 'store/cache/local-copy.ts',
    tests: ['store/cache/local-copy'],
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
