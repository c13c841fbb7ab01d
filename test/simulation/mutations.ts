// Mistakes that one could make in the code of a promise: before its scenario is trusted, each has to be found.

import type { ScenarioName } from './scenarios.ts'

interface Mistake {
  readonly file: string
  /** In the file once, and what it becomes. */
  readonly from: string
  readonly to: string
  /** Whether it takes thousands of schedules. */
  readonly isRare?: true
}

export interface Mutation extends Mistake {
  readonly scenario: ScenarioName
}

const [ledger, purse, holder, reservation] = [
  'src/store/budget-ledger/ledger.ts',
  'src/budgets/purse.ts',
  'src/budgets/budget-holder.ts',
  'src/budgets/reservation.ts',
]

const budgets: readonly Mistake[] = [
  { file: ledger, from: 'share.sequence >= sequence', to: 'share.sequence > sequence' },
  { file: ledger, from: 'if (!fits) isGranted = false', to: '' },
  { file: ledger, from: 'spent + leased + line.need <=', to: 'spent + line.need <=' },
  { file: ledger, from: 'state.spent - state.leased - need', to: 'state.spent - need' },
  { file: ledger, from: 'share.ifLost = ifLost + share.amount - keep', to: 'share.ifLost = ifLost' },
  { file: ledger, from: 'now + lease\n', to: 'now + 2 * lease\n' },
  { file: ledger, from: 'window, share.ifLost, share', to: 'window, 0, share' },
  { file: ledger, from: 'share.amount = share.ifLost = 0', to: '' },
  { file: ledger, from: 'isKnown(line, share) ?', to: 'true ?' },
  { file: ledger, from: 'reported: confirmed', to: 'reported: 0' },
  { file: ledger, from: '  giveBack(account, share)\n', to: '' },
  { file: ledger, from: 'Math.max(0, total - share.reported), now', to: 'total, now' },
  { file: ledger, from: 'share.reported = total', to: '' },
  { file: ledger, from: 'share.amount = keep', to: 'share.amount = 0' },
  { file: ledger, from: 'slots[0]![0] < first', to: 'slots[0]![0] <= first' },
  { file: ledger, from: 'slotOf(window, now) - bucketReach', to: 'slotOf(window, now) - 0 * bucketReach' },
  { file: ledger, from: 'share.reported += share.charged?.[1] ?? 0', to: '', isRare: true },
  { file: ledger, from: 'account.slots.length = 0', to: '' },
  { file: purse, from: 'now - this.#confirmedAt > drawingPeriod', to: 'false' },
  { file: purse, from: 'this.#free = 0\n', to: '\n' },
  { file: purse, from: 'keep: this.#held', to: 'keep: 0' },
  { file: purse, from: 'ifLost: Math.min(this.#atRisk, this.#held)', to: 'ifLost: 0' },
  { file: purse, from: '(isGranted ? need : 0)', to: '0' },
  { file: purse, from: 'this.#sent = null\n    this.#isStale = true', to: 'this.#sent = null' },
  { file: purse, from: 'if (this.#total !== this.#reported ||', to: 'if (' },
  { file: purse, from: 'return now - this.#confirmedAt > renewalPeriod', to: 'return false' },
  { file: purse, from: 'this.isEmpty && this.#isKnown && now', to: 'now' },
  { file: purse, from: 'this.#atRisk -= atRisk', to: '' },
  { file: purse, from: 'this.#atRisk += change', to: '' },
  { file: holder, from: 'purse.hold(amounts[i]!, now)\n      return', to: 'now\n      return' },
  { file: holder, from: "whenUnreachable === 'closed'", to: 'false' },
  { file: holder, from: 'if (!purse.canDraw(amounts[i]!, now)) isNear = true', to: '' },
  { file: holder, from: 'for (const purse of purses) purse.lose()', to: '' },
  { file: holder, from: 'account.isOut = false', to: '' },
  { file: reservation, from: 'if (this.#isSettled) return\n    this.#isSettled', to: 'this.#isSettled' },
  {
    file: reservation,
    from: 'if (this.#isSettled) this.#purses[i]!.settle(',
    to: 'if (false) this.#purses[i]!.settle(',
  },
  { file: reservation, from: 'if (this.#atRisk !== null) this.#atRisk[i]! += amount', to: '' },
]

const [readThrough, changes, siteSessions, verifier] = [
  'src/store/cache/read-through.ts',
  'src/store/redis/changes.ts',
  'src/people/sessions/known-site-sessions.ts',
  'src/tokens/verify.ts',
]

const revocation: readonly Mistake[] = [
  { file: readThrough, from: 'this.#isOvertaken(key, value, changesBefore) ? null : askedAt', to: 'askedAt' },
  { file: readThrough, from: 'if (this.#loading > 0) this.#recentChanges.push(change)', to: '' },
  {
    file: readThrough,
    from: 'return age > this.#options.grace ? null : { value: entry.value, age }',
    to: 'return { value: entry.value, age: 0 }',
  },
  {
    file: readThrough,
    from: 'knownAt <= Math.max(this.#changedAt, missedAt) || knownAt < this.#unheardUntil',
    to: 'knownAt <= missedAt',
  },
  { file: readThrough, from: 'now - this.#options.changes.knownUntil <= trust', to: 'true' },
  {
    file: readThrough,
    from: 'this.#triesAt === null || age > this.#options.grace',
    to: 'this.#triesAt === null',
  },
  {
    file: readThrough,
    from: "if (change.kind === 'everything') return this.#values.clear()",
    to: "if (change.kind === 'everything') return",
  },
  { file: readThrough, from: '    this.#misses.clear()\n', to: '' },
  {
    file: readThrough,
    from: 'for (const key of [...(this.#groups.get(ended) ?? [])]) this.#values.delete(key)',
    to: '',
  },
  {
    file: changes,
    from: 'this.#position !== null && entries[0]?.[0] === this.#position',
    to: 'this.#position !== null',
  },
  { file: changes, from: "this.#tell([{ kind: 'everything' }])", to: '' },
  {
    file: changes,
    from: 'this.#timer = setTimeout(() => this.look(), period)',
    to: 'this.#timer = setTimeout(() => this.look(), 5 * period)',
  },
  { file: siteSessions, from: 'groupOf: ({ session }) => session.parent.id,', to: '' },
  { file: siteSessions, from: 'id === user.id ||', to: '' },
  { file: verifier, from: 'token.id === change.id && token.account === change.account', to: 'false' },
]

const [credentials, exchangeOf] = [
  'src/store/sqlite/credentials.ts',
  'src/oauth-server/engine/token-exchange.ts',
]

const exchange: readonly Mistake[] = [
  { file: credentials, from: 'if (!hasEnded) this.#writeEnd(end, json)', to: '' },
  { file: credentials, from: "if (hasEnded) return { outcome: 'ended', consumedAt: null }", to: '' },
  {
    file: credentials,
    from: 'if (current.consumedAt === null) this.#consume(',
    to: 'if (false) this.#consume(',
  },
  { file: credentials, from: 'else if (last !== null) mustReport = this.#supersede(last, at)', to: '' },
  {
    file: credentials,
    from: 'const isRemoved = this.#remove(bytesOf(access)',
    to: 'const isRemoved = false && this.#remove(bytesOf(access)',
  },
  { file: exchangeOf, from: 'issued: succession === null ? issued : [...issued, succession]', to: 'issued' },
]

const [clientRecords, rotations] = ['src/store/sqlite/records.ts', 'src/admin/oauth-clients/secrets.ts']

const secrets: readonly Mistake[] = [
  { file: clientRecords, from: 'AND id = ? AND version = ?`', to: 'AND id = ? AND ?`' },
  {
    file: 'src/oauth/clients/client-directory.ts',
    from: 'concerns: ({ id }, client) => client.id === id',
    to: 'concerns: () => false',
  },
  { file: 'src/oauth/clients/client-directory.ts', from: 'grace: 0', to: 'grace: 60_000' },
  { file: rotations, from: '...keep(response)', to: '' },
]

const [keyCount, limiter, reports, counters] = [
  'src/limits/key-count.ts',
  'src/limits/limiter.ts',
  'src/limits/reports.ts',
  'src/store/sqlite/counters.ts',
]

const limits: readonly Mistake[] = [
  {
    file: limiter,
    from: 'resolve(i < granted ? count.allow(now) : count.refuse(now))',
    to: 'resolve(count.allow(now))',
  },
  { file: keyCount, from: '(unconfirmed < unreported && mayBe <= ceiling)', to: 'mayBe <= ceiling' },
  { file: keyCount, from: 'this.#unreported = 0\n    this.#underWay += done', to: 'this.#unreported = 0' },
  { file: keyCount, from: 'this.#storeCount = count', to: '' },
  { file: keyCount, from: 'this.#fullUntil = now + wait', to: 'this.#fullUntil = now + 3 * wait' },
  { file: limiter, from: 'if (!count.isFar(now)) return this.#enqueue(count)', to: '' },
  { file: reports, from: 'Math.min(maxDelay, count.limit.period / 10)', to: '1e9' },
  { file: counters, from: 'window.add(now, done + granted)', to: 'window.add(now, granted)' },
]

const [supervisor, handle] = ['src/process/workers/supervisor.ts', 'src/process/workers/worker-handle.ts']

const reload: readonly Mistake[] = [
  { file: supervisor, from: 'if (refusal === undefined && isProven)', to: 'if (isProven)' },
  {
    file: supervisor,
    from: '    this.#config = config\n    this.#bans.keep(config)',
    to: '    this.#bans.keep(config)',
  },
  { file: supervisor, from: 'follow(worker).catch(() => worker.kill())', to: 'follow(worker).catch(ignore)' },
  {
    file: supervisor,
    from: '[...this.#workers].map(worker => follow',
    to: '[...prepared].map(worker => follow',
  },
  { file: supervisor, from: 'const delay = this.#restart(worker.slot, crashes)', to: 'const delay = 0' },
  {
    file: handle,
    from: 'const late = setTimeout(() => this.kill(), timeout)',
    to: 'const late = setTimeout(() => {}, timeout)',
  },
  {
    file: handle,
    from: "for (const { reject } of this.#waiting.values()) reject(new Unanswered('the worker ended'))",
    to: '',
  },
]

const [attempt, challenge, schedule, watch, lookup, message, dueClients] = [
  'src/domains/attempt.ts',
  'src/domains/challenge.ts',
  'src/domains/schedule.ts',
  'src/domains/domain-watch.ts',
  'src/domains/txt-lookup.ts',
  'src/domains/txt-message.ts',
  'src/store/sqlite/oauth-clients.ts',
]

const verification: readonly Mistake[] = [
  { file: lookup, from: 'texts.includes(text)', to: 'texts.some(one => one.startsWith(text))' },
  { file: attempt, from: 'stored.host !== checked.host || stored.code !== checked.code', to: 'false' },
  { file: attempt, from: 'stored === null || stored.nextCheckAt === null', to: 'stored === null' },
  {
    file: attempt,
    from: "answer.outcome === 'found' || stored.nextCheckAt === checked.nextCheckAt",
    to: 'true',
  },
  { file: attempt, from: 'Math.max(now, dueAt!)', to: 'now' },
  { file: attempt, from: 'if (at >= deadline)', to: 'if (at >= startedAt + 3_600_000)' },
  { file: attempt, from: 'if (at >= deadline)', to: 'if (false)' },
  { file: challenge, from: "current.status === 'verified' ? 'host_frozen'", to: "false ? 'host_frozen'" },
  { file: challenge, from: 'if (current.host === host)', to: 'if (true)' },
  { file: challenge, from: 'Math.min(nextCheckAt ?? now, soon)', to: 'soon + 60_000' },
  { file: challenge, from: "if (status === 'verified') return current\n", to: '\n' },
  { file: schedule, from: 'Math.min(deadline, now +', to: 'Math.max(0, now +' },
  { file: schedule, from: '?.step ?? lastStep', to: '?.step ?? 8 * lastStep' },
  {
    file: watch,
    from: 'setInterval(() => void this.#renew(), renewal)',
    to: 'setInterval(() => {}, renewal)',
  },
  { file: watch, from: '      this.#claimed.delete(client.record)\n', to: '' },
  { file: watch, from: '      this.#running.delete(running)\n', to: '' },
  { file: watch, from: 'this.#timer = setInterval(() => this.#poll(), this.#period).unref()', to: '' },
  { file: message, from: 'texts.filter(([owner]) => reached.has(owner))', to: 'texts' },
  { file: message, from: ' || message.readUInt16BE(0) !== id', to: '' },
  { file: dueClients, from: 'this.#lease(now + lease, row.key!)', to: 'this.#lease(now, row.key!)' },
  { file: dueClients, from: ' AND due_at IS NOT ?1', to: '' },
  { file: dueClients, from: 'ask_at <= ? ORDER BY', to: 'ask_at < ? - 90000 ORDER BY' },
]

const [acme, orders, lease, accounts, knownCertificates] = [
  'src/certificates/acme/attempt.ts',
  'src/certificates/acme/orders.ts',
  'src/certificates/acme/lease.ts',
  'src/certificates/acme/account.ts',
  'src/certificates/acme/known-certificates.ts',
]

const certificates: readonly Mistake[] = [
  { file: orders, from: 'lease !== null && !certificates.isAbandoned(stored)', to: 'false' },
  { file: orders, from: "restOf(restUntil, now) <= now ? 'order' : null", to: "'order'" },
  { file: orders, from: 'this.#restFrom(config, await this.#accounts.restUntil(config))', to: '' },
  { file: orders, from: '    await sleepFor(hearing, undefined', to: '    await sleepFor(1, undefined' },
  { file: orders, from: '    await shared()\n', to: '' },
  {
    file: orders,
    from: 'issued, renewal, order: null, ...noFailure',
    to: 'renewal, order: null, ...noFailure',
  },
  { file: lease, from: 'if (!isOurs || current === null) throw', to: 'if (current === null) throw' },
  {
    file: lease,
    from: 'setInterval(() => void this.write({}).catch(() => {}), beatPeriod)',
    to: 'setInterval(() => {}, beatPeriod)',
  },
  { file: lease, from: 'leaseTimeout = 15_000', to: 'leaseTimeout = 5_000' },
  {
    file: accounts,
    from: '    return this.#keyed(config, false)\n',
    to: '    return { record, version: 0 }\n',
  },
  { file: accounts, from: 'contact = { url: url ??', to: "contact = { sealedKey: '', url: url ??" },
  {
    file: acme,
    from: 'const key = secrets.unseal(order.sealedKey, keyContext(id))',
    to: 'const key = await newKey()',
  },
  { file: acme, from: 'clock.monotonic() + timeout', to: 'clock.monotonic() + 1e12' },
  {
    file: 'src/certificates/acme/schedule.ts',
    from: 'Math.max(earliest, Math.min(notAfter - part, renewal.at))',
    to: 'notAfter',
  },
  {
    file: 'src/certificates/acme/schedule.ts',
    from: 'Math.max(earliest, Math.min(notAfter - part, renewal.at))',
    to: 'Math.min(notAfter - part, renewal.at)',
  },
  {
    file: 'src/certificates/acme/schedule.ts',
    from: 'Math.max(earliest, Math.min(notAfter - part, renewal.at))',
    to: 'Math.max(earliest, renewal.at)',
  },
  {
    file: 'src/certificates/acme/certificate-state.ts',
    from: 'renewal === null || renewal.at <= now',
    to: 'renewal === null',
  },
  {
    file: knownCertificates,
    from: 'sealed !== undefined && before?.record.issued?.sealedKey === sealed',
    to: 'before?.key != null',
  },
  { file: knownCertificates, from: 'this.#write()\n    this.changed()', to: 'this.#write()' },
  {
    file: knownCertificates,
    from: 'this.#entries.get(host)?.version === certificate.version',
    to: 'this.#entries.has(host)',
  },
]

const [inheritance, upgrade, sharedSockets] = [
  'src/process/handover/inheritance.ts',
  'src/process/handover/upgrade.ts',
  'src/process/workers/shared-sockets.ts',
]

const handOver: readonly Mistake[] = [
  {
    file: upgrade,
    from: "for (const { handle, ...socket } of edge) await this.#send({ kind: 'edge', socket }, handle)",
    to: 'edge.at(0)',
  },
  { file: upgrade, from: 'setTimeout(resolve, start,', to: 'setTimeout(() => {}, start,' },
  {
    file: upgrade,
    from: 'for (let from = 0; from < loans.length; from += maxLoans)',
    to: 'for (let from = 0; from < 1; from += maxLoans)',
  },
  { file: upgrade, from: '    this.#parts.gateway.makeWay()\n', to: '' },
  { file: upgrade, from: '      await this.#abandon(next)\n', to: '' },
  { file: inheritance, from: 'age: loan.age + since', to: 'age: loan.age' },
  {
    file: inheritance,
    from: 'for (const { handle } of groups.flat()) handle.close()',
    to: 'for (const { handle } of sockets) handle.close()',
  },
  { file: sharedSockets, from: 'for (const { handle } of this.#sockets.values()) handle.close()', to: '' },
  { file: sharedSockets, from: 'this.#sockets.set(keyOf(socket), socket)', to: 'socket.handle.close()' },
]

const all = {
  budgets,
  revocation,
  exchange,
  secrets,
  limits,
  reload,
  verification,
  certificates,
  'hand-over': handOver,
}

export const mutations: readonly Mutation[] = Object.entries(all).flatMap(([scenario, mistakes]) =>
  mistakes.map(mistake => ({ ...mistake, scenario: scenario as ScenarioName })),
)
