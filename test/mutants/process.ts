// Mutations of configuration, processes and what is told of errors.

import type { Mutated } from './mutation.ts'

export const process: readonly Mutated[] = [
  {
    file: 'process/commands/api/confirm.ts',
    tests: ['process/commands/token', 'process/commands/client/verbs'],
    changes: [
      {
        text: 'return input.yes || canAsk ? null',
        becomes: 'return true ? null',
        breaks: 'a script deletes without --yes',
      },
      {
        text: 'if (input.yes || (await isTyped(question, id))) return true\n',
        becomes: 'await isTyped(question, id)\n  return true\n',
        breaks: 'a person who declines deletes',
      },
    ],
  },
  {
    file: 'process/commands/ai-gateway/change.ts',
    tests: ['process/commands/ai-gateway/verbs'],
    changes: [
      {
        text: 'const whole = { ...read, ...settings }',
        becomes: 'const whole = { ...settings }',
        breaks: 'a setting that is not named goes back to its default',
      },
    ],
  },
  {
    file: 'process/commands/token/roll.ts',
    tests: ['process/commands/token'],
    changes: [
      {
        text: 'if (person !== undefined)',
        becomes: 'if (false)',
        breaks: 'an operator gets the value of a token that acts as a member',
      },
    ],
  },
  {
    file: 'process/commands/reload-upgrade.ts',
    tests: ['journeys/listen'],
    changes: [
      {
        text: '(await gatewaysHere()).filter(gateway => gateway.file === file)',
        becomes: 'await gatewaysHere()',
        breaks: 'a reload reaches the gateway of another file',
      },
    ],
  },
  {
    file: 'config/load/changes.ts',
    tests: ['config/changes'],
    changes: [
      {
        text: "if (key === 'line' || isDeepStrictEqual(withoutLines(one), withoutLines(other))) continue",
        becomes: 'if (isDeepStrictEqual(one, other)) continue',
        breaks: 'a comment in the file is a change of every route below it',
      },
    ],
  },
  {
    file: 'process/workers/supervisor.ts',
    tests: ['process/workers/supervisor'],
    changes: [
      {
        text: '? attempt + 1 : 0',
        becomes: '? attempt + 1 : attempt',
        breaks: 'a worker that crashed long ago comes back late for ever',
      },
      {
        text: '? attempt + 1 : 0',
        becomes: '? attempt : 0',
        breaks: 'a worker that crashes each time is started ten times a second',
      },
      {
        text: 'if (!this.#hung.has(worker) && worker.ping() >= most) void this.#endHung(worker, most)',
        becomes: 'worker.ping()',
        breaks: 'a worker that hangs stays',
      },
      {
        text: 'for (const worker of this.#workers) {\n      const most',
        becomes: 'for (const worker of this.#up) {\n      const most',
        breaks: 'a worker that hangs while it starts stays',
      },
      {
        text: 'this.#config = ask.config\n',
        becomes: '',
        breaks: 'a worker that is replaced has the configuration of the start',
        tests: ['process/workers/supervisor', 'journeys/workers'],
      },
      {
        text: 'if (!(cause instanceof Unanswered)) throw cause',
        becomes: 'throw cause',
        breaks: 'a hung worker stops every reload',
      },
      {
        text: 'if (!wanted.has(key)) this.#checks.delete(key)',
        becomes: '',
        breaks: 'what checks found long ago is told to new workers',
      },
      {
        text: 'if (last) this.#ended = this.#ended.then(ended => remains([ended, last]))',
        becomes: '',
        breaks: 'counters go backwards when a worker ends',
        tests: ['journeys/workers'],
      },
    ],
  },
  {
    file: 'process/workers/share-ledger.ts',
    tests: ['process/workers/share-ledger'],
    changes: [
      {
        text: 'account.pool -= count\n',
        becomes: '',
        breaks: 'what one worker left is granted again and again',
      },
      {
        text: 'if (this.#holders.has(slot)) continue',
        becomes: '',
        breaks: 'what a worker uses is granted to others too',
      },
      {
        text: 'if (moved < 0 && account.pool > 0)',
        becomes: 'if (false)',
        breaks: 'a worker that once left its share to others never gets it back',
      },
    ],
  },
  {
    file: 'process/workers/supervision.ts',
    tests: ['process/workers/supervision'],
    changes: [
      {
        text: 'Math.min(longestWait, shortestWait * 2 ** attempt)',
        becomes: 'shortestWait * 2 ** attempt',
        breaks: 'a worker is never back after many crashes',
      },
    ],
  },
  {
    file: 'process/store/maintenance.ts',
    tests: ['process/store/maintenance'],
    changes: [
      {
        text: 'if (!wasUnreachable) tellOf(cause)',
        becomes: 'tellOf(cause)',
        breaks: 'the log gets a line a second while the store is away',
      },
      {
        text: 'wasUnreachable = false\n        // It',
        becomes: '// It',
        breaks: 'the log says each second that the store is back',
      },
    ],
  },
  {
    file: 'process/gateway/gateway.ts',
    tests: ['journeys/restart'],
    changes: [
      {
        text: 'if (isAlone) for (const endpoint of unbound) await assertFree(endpoint, patience)',
        becomes: '',
        breaks: 'a second gateway takes half of the requests of the first',
      },
    ],
  },
  {
    file: 'process/ports/listen-failure.ts',
    tests: ['process/ports/listen-failure'],
    changes: [
      {
        text: 'if (!isInUse(cause) || performance.now() - begun >= patience) throw cause',
        becomes: 'if (!isInUse(cause)) throw cause',
        breaks: 'a gateway waits for ever for an address that another one has',
      },
    ],
  },
  {
    file: 'process/store/new-account.ts',
    tests: ['process/store/first-start', 'process/commands/account'],
    changes: [
      {
        text: 'authentication: true,',
        becomes: 'authentication: false,',
        breaks: 'the first gateway is open to everybody',
      },
    ],
  },
  {
    file: 'process/store/first-start.ts',
    tests: ['process/store/first-start'],
    changes: [
      {
        text: 'if (isOurs && !isNew) await this.#store.confirm()',
        becomes: '',
        breaks: 'a token is shown that a failover may take away',
      },
    ],
  },
  {
    file: 'process/store/secret-keys-file.ts',
    tests: ['process/store/secret-keys-file'],
    changes: [
      {
        text: '(stats.mode & forOthers) !== 0',
        becomes: 'false',
        breaks: 'everybody on the machine reads the key of client secrets',
      },
    ],
  },
  {
    file: 'process/system/lifecycle.ts',
    tests: ['process/system/lifecycle'],
    changes: [
      {
        text: 'for (const part of this.#started.reverse()) {',
        becomes: 'for (const part of this.#started) {',
        breaks: 'the store closes before those who write to it',
      },
      {
        text: "if (this.#phase !== 'starting') return",
        becomes: '',
        breaks: 'a gateway that is stopped while it starts goes on to serve',
      },
    ],
  },
  {
    file: 'config/file/references.ts',
    tests: ['config/file/parse'],
    changes: [
      {
        text: '(Object.hasOwn(env, name) && env[name]) || fallback',
        becomes: 'env[name] || fallback',
        breaks: 'a name of a method of every object is taken for a variable',
        tests: ['config/file/references'],
      },
    ],
  },
  {
    file: 'config/file/watch.ts',
    tests: ['config/file/watch'],
    changes: [
      {
        text: 'if (this.#isReloading) return this.trigger()',
        becomes: '',
        breaks: 'two reloads run at once',
      },
      {
        text: "decides: target !== 'none' || rest.length === 0",
        becomes: 'decides: rest.length === 0',
        breaks: 'a link that turns on the way to a certificate goes unnoticed',
      },
      {
        text: 'this.follow([...this.#seen.keys()])',
        becomes: '',
        breaks: 'a watch that failed once is never tried again',
        tests: ['config/file/watch-failure'],
      },
    ],
  },
  {
    file: 'config/shape/name-checks.ts',
    tests: ['config/golden'],
    changes: [
      {
        text: 'if (known.includes(name.value)) return',
        becomes: 'return',
        breaks: 'a pool that there is not is found out by the first request',
      },
    ],
  },
  {
    file: 'errors/render/plain.ts',
    tests: ['errors/render/plain'],
    changes: [
      {
        text: '${oneLine(detail)}',
        becomes: '${detail}',
        breaks: 'a client that is quoted writes lines of its own in an error',
      },
    ],
  },
  {
    file: 'errors/compose/negotiate.ts',
    tests: ['errors/negotiate'],
    changes: [
      {
        text: 'if (remembered.size === mostRemembered) remembered.delete(remembered.keys().next().value!)',
        becomes: '',
        breaks: 'clients fill the memory with Accept lines',
      },
      {
        text: 'if (accept.length > longestRemembered) return format',
        becomes: '',
        breaks: 'clients fill the memory with long Accept lines',
      },
      {
        text: 'if (accept.length <= longestRead) return accept',
        becomes: 'return accept',
        breaks: 'an Accept of 128 KiB costs a worker its time',
      },
    ],
  },
  {
    file: 'errors/catalogue/refusal.ts',
    tests: ['errors/refusal'],
    changes: [
      {
        text: 'Math.min(Math.max(Math.ceil(refusal.retryAfter), 1), longestWait)',
        becomes: 'refusal.retryAfter',
        breaks: 'clients are told to come back at once, or never',
      },
    ],
  },
  {
    file: 'errors/catalogue/origin-failure.ts',
    tests: ['errors/origin-failure'],
    changes: [
      {
        text: "failure.row.blamesMember && originFailure(phase, failure) !== 'internal_server_error'",
        becomes: 'failure.row.blamesMember',
        breaks: 'what this machine lacks ejects its origins',
        tests: ['edge/forward/retries'],
      },
      {
        text: 'const faultless = { blamesMember: false }',
        becomes: 'const faultless = { blamesMember: true }',
        breaks: 'a full queue ejects its origin',
        tests: ['edge/forward/retries', 'errors/origin-failure'],
      },
      {
        text: "reset: row({ connect: 'origin_down' }, { ...loss,",
        becomes: "reset: row({ connect: 'origin_down' }, {",
        breaks: 'a reset of an idle connection fails a request',
        tests: ['wire/keep-alive', 'wire/closing-origins', 'errors/origin-failure'],
      },
    ],
  },
  {
    file: 'errors/compose/compose-ai.ts',
    tests: ['errors/compose-ai'],
    changes: [
      {
        text: 'String(refusal.mayRetry ?? retryAfterOf(refusal) !== null)',
        becomes: "'true'",
        breaks: 'SDKs repeat what can never work',
      },
    ],
  },
  {
    file: 'errors/custom/content-escaping.ts',
    tests: ['errors/custom/custom-content'],
    changes: [
      {
        text: "'text/html': escapeHtml,",
        becomes: "'text/html': flatten,",
        breaks: 'what a client sends runs as script on an error page',
      },
      {
        text: 'return asciiJson(text).slice(1, -1)',
        becomes: 'return text',
        breaks: 'what a client sends breaks out of a JSON error',
      },
    ],
  },
  {
    file: 'errors/custom/error-rule.ts',
    tests: ['errors/custom/error-rule'],
    changes: [
      {
        text: 'status >= 400 && status <= 999',
        becomes: 'status <= 999',
        breaks: 'an error is told as a success',
      },
    ],
  },
  {
    file: 'pools/pool.ts',
    tests: ['pools/pool'],
    changes: [
      {
        text: 'share > 0 && isBoundTo(target)',
        becomes: 'isBoundTo(target)',
        breaks: 'a client that has authenticated goes on to a member that is down',
      },
      {
        text: 'this.budget.earn()\n    return bound',
        becomes: 'return bound',
        breaks: 'a pool of clients that have authenticated retries nothing',
      },
    ],
  },
  {
    file: 'edge/steps/plan.ts',
    tests: ['wire/connection-authentication'],
    changes: [
      {
        text: 'pinned === null ?',
        becomes: 'true ?',
        breaks: 'the messages of a handshake go to several members of a pool',
      },
    ],
  },
  {
    file: 'pools/circuit.ts',
    tests: ['pools/health'],
    changes: [
      {
        text: 'if (!this.admits(now)) return false',
        becomes: '',
        breaks: 'a dead origin gets all requests as its trial',
      },
      {
        text: 'if (this.#trial === request) this.#trial = null',
        becomes: '',
        breaks: 'an origin whose trial was left is never tried again',
      },
      {
        text: 'this.failures < this.#config.failures : this.#trial !== request',
        becomes: 'false : this.#trial !== request',
        breaks: 'one failure ejects an origin',
      },
    ],
  },
  {
    file: 'pools/health.ts',
    tests: ['pools/health'],
    changes: [
      {
        text: "if (this.check?.isUp === false) return 'down'",
        becomes: '',
        breaks: 'an origin that fails its checks is told as healthy',
      },
      {
        text: 'if (this.#circuit?.isClosed) this.#circuit.failures = 0',
        becomes: '',
        breaks: 'failures count that are days apart',
      },
    ],
  },
  {
    file: 'pools/retry-budget.ts',
    tests: ['pools/retry-budget'],
    changes: [
      {
        text: 'if (this.#share === 0) return false',
        becomes: '',
        breaks: 'a pool without retries has ten',
      },
      {
        text: 'this.#forget(this.#clock.monotonic())',
        becomes: '',
        breaks: 'retries are used up once for all',
      },
    ],
  },
  {
    file: 'edge/rewrite/path.ts',
    tests: ['wire/rewrite-refusals', 'wire/rewrites', 'edge/rewrite/rewrite'],
    changes: [
      {
        text: 'if (!isTarget(path) || leadsOutside(path, read))',
        becomes: 'if (!isTarget(path))',
        breaks: 'a rewrite leads clients above their prefix',
        tests: ['wire/rewrite-refusals', 'wire/rewrites'],
      },
      {
        text: 'return rewritten.length > longest ?',
        becomes: 'return false ?',
        breaks: 'a rewrite makes a target of any length',
        tests: ['wire/rewrite-refusals'],
      },
    ],
  },
  {
    file: 'edge/rewrite/headers.ts',
    tests: ['edge/rewrite/rewrite', 'wire/rewrites', 'wire/rewrite-refusals'],
    changes: [
      {
        text: "if (!isFieldValue(text)) return refuse('rewrite_invalid_header_value', {}, cause)",
        becomes: '',
        breaks: 'a rewrite puts a line break into a head',
        tests: ['wire/rewrite-refusals'],
      },
      {
        text: 'if (this.concerns(name)) continue',
        becomes: '',
        breaks: 'what a client sends stands beside what the operator sets',
        tests: ['wire/rewrites'],
      },
      {
        text: 'hopByHop: hopByHop && this.#unlisted(hopByHop)',
        becomes: 'hopByHop',
        breaks: 'a client strips what the operator adds',
        tests: ['wire/rewrites'],
      },
      {
        text: 'const kept = trailers.filter((_, i) => !changes.concerns(trailers[i - (i % 2)]!))',
        becomes: 'const kept = trailers',
        breaks: 'what a rewrite took away comes back as a trailer',
        tests: ['wire/rewrites', 'wire/trailers'],
      },
    ],
  },
]
