// Mutations of who is let in, and how often.

import type { Mutated } from './mutation.ts'

export const access: readonly Mutated[] = [
  {
    file: 'access/bans/bans.ts',
    tests: ['access/bans'],
    changes: [
      {
        text: 'this.#counts.delete(key)\n    if (count.refusals >= most)',
        becomes: 'if (count.refusals >= most)',
        breaks: 'who was banned is banned again for the first refusal after that',
      },
      {
        text: 'now - known.since < within',
        becomes: 'true',
        breaks: 'refusals of a whole year lead to a ban',
      },
      {
        text: 'if (this.#counts.size >= mostKept) dropFirst(this.#counts)',
        becomes: '',
        breaks: 'addresses that were refused once fill the memory',
        tests: ['access/bans'],
      },
      {
        text: 'if (this.#until.size >= mostKept) dropFirst(this.#until)',
        becomes: '',
        breaks: 'banned addresses fill the memory',
      },
      {
        text: 'return until !== undefined && this.#clock.monotonic() < until',
        becomes: 'return until !== undefined',
        breaks: 'a ban has no end',
      },
      {
        text: 'for (const [id, ban] of this.#byId) if (!kept.has(ban)) this.#byId.delete(id)',
        becomes: '',
        breaks: 'a ban that the configuration has no longer is back with the next one',
      },
      {
        text: 'if (!this.has(key)) this.#ban(key, this.#clock.monotonic(), left)',
        becomes: 'this.#ban(key, this.#clock.monotonic(), left)',
        breaks: 'news of other processes make a ban longer and longer',
      },
      {
        text: 'this.#listeners.noted?.(this.#id, key, most)',
        becomes: 'this.#listeners.noted?.(this.#id, key, refusals)',
        breaks: 'a ban of one worker is none of the others',
      },
    ],
  },
  {
    file: 'access/bans/ban-messages.ts',
    tests: ['access/ban-post'],
    changes: [
      {
        text: 'if (known === undefined && this.#waiting === mostWaiting) return',
        becomes: '',
        breaks: 'a flood of addresses becomes a flood of messages',
      },
      {
        text: 'numbers.set(key, (known ?? 0) + number)',
        becomes: 'numbers.set(key, number)',
        breaks: 'refusals between two messages count once',
      },
    ],
  },
  {
    file: 'access/policy.ts',
    tests: ['access/policy', 'wire/access'],
    changes: [
      {
        text: "if (!visit.work.take(this.#plainWork)) return this.#refuse('work', this.#tooMuch)",
        becomes: '',
        breaks: 'rules cost any amount of work',
      },
      {
        text: 'if (isMatch !== false) return this.#conclude(rule, visit, isMatch)',
        becomes: 'if (isMatch === true) return this.#conclude(rule, visit, isMatch)',
        breaks: 'a rule that cannot tell lets in',
      },
      {
        text: "if (this.#otherwise === 'allow') return null",
        becomes: 'return null',
        breaks: 'nobody is denied by default',
      },
      {
        text: 'this.#isAddress = this.#words.read(address)',
        becomes: 'this.#isAddress ||= this.#words.read(address)',
        breaks: 'what is no address is judged as the one before',
        tests: ['access/policy'],
      },
    ],
  },
  {
    file: 'access/rules/conditions.ts',
    tests: ['access/policy', 'wire/access'],
    changes: [
      {
        text: 'for (let i = 0; i < paths.length; i++) if (isUnder(prefixes, paths[i]!)) return true\n    return false',
        becomes: 'return isUnder(prefixes, paths[0]!)',
        breaks: 'another spelling of a path slips by a rule that denies',
        tests: ['wire/path-readers', 'wire/access'],
      },
      {
        text: 'for (let i = 0; i < paths.length; i++) if (!isUnder(prefixes, paths[i]!)) return false\n    return true',
        becomes: 'return isUnder(prefixes, paths[0]!)',
        breaks: 'another spelling of a path slips in by a rule that allows',
        tests: ['wire/path-readers', 'wire/access'],
      },
      {
        text: 'return ({ country }) => (country === null ? null : isListed(country))',
        becomes: 'return ({ country }) => country !== null && isListed(country)',
        breaks: 'a broken database lets everybody in',
        tests: ['access/geo', 'wire/access'],
      },
      {
        text: "visit.referer !== '' && !hosts.has(visit.refererHost)",
        becomes: '!hosts.has(visit.refererHost)',
        breaks: 'who sends no Referer is taken for a stranger',
      },
      {
        text: 'if (address.readings !== reading) {',
        becomes: 'if (reading === -1) {',
        breaks: 'every client is judged by the address of the first',
        tests: ['access/policy', 'wire/access'],
      },
      {
        text: 'return visit => (visit.country === null || visit.network === null ? null : evaluate(visit))',
        becomes: 'return evaluate',
        breaks: 'an expression takes a broken database for an unknown country',
        tests: ['access/geo', 'wire/access', 'edge/exchange-facts'],
      },
    ],
  },
  {
    file: 'access/rules/rule-cache.ts',
    tests: ['access/policy', 'wire/access'],
    changes: [
      {
        text: 'readings === this.#reading && userAgent === this.#userAgent',
        becomes: 'readings === this.#reading',
        breaks: 'a client that changes its User-Agent is judged by the one before',
      },
      {
        text: 'if (isSame && country === this.#country && network === this.#network)',
        becomes: 'if (isSame)',
        breaks: 'a client is judged by what a database said before it was replaced',
      },
      {
        text: "kind === 'country' || kind === 'asn'",
        becomes: "kind === 'country' || kind === 'asn' || kind === 'referer'",
        breaks: 'a client is judged by the Referer of its request before',
      },
      {
        text: 'for (let i = 0; i < paths.length; i++) if (prefixes.lead(paths[i]!)) return false\n  return true',
        becomes: 'return !prefixes.lead(paths[0]!)',
        breaks: 'another spelling of a path slips by a rule that denies, where there are many',
      },
    ],
  },
  {
    file: 'access/rules/rules.ts',
    tests: ['wire/access'],
    changes: [
      {
        text: "if (this.action === 'legal') return this.kind === 'country' ? 'legal_country_block' : 'legal_block'",
        becomes: '',
        breaks: 'a legal block is told as a ban',
      },
    ],
  },
  {
    file: 'access/rules/access-request.ts',
    tests: ['access/policy'],
    changes: [
      {
        text: "value = value === '' ? fields[i + 1]! : `${value}, ${fields[i + 1]}`",
        becomes: "value = value === '' ? fields[i + 1]! : value",
        breaks: 'a second User-Agent hides the first from rules that look for it',
      },
    ],
  },
  {
    file: 'access/rules/referer.ts',
    tests: ['access/referer'],
    changes: [
      {
        text: 'if (code === at) start = end + 1',
        becomes: '',
        breaks: 'a user name in a Referer is taken for its host',
      },
      {
        text: "if (end === referer.length && end < url.length) return ''",
        becomes: '',
        breaks: 'a host that is cut is taken for another one',
      },
    ],
  },
  {
    file: 'access/files/lists.ts',
    tests: ['access/lists'],
    changes: [
      {
        text: "if (now.table.size === 0 && before.table.size > 0) return 'the file is empty now'",
        becomes: '',
        breaks: 'a list that is being written lets everybody in',
      },
    ],
  },
  {
    file: 'access/files/list-file.ts',
    tests: ['access/list-file'],
    changes: [
      {
        text: "if (member !== '' && !this.builder.add(member)) this.#refuse(this.#count)",
        becomes: "if (member !== '') this.builder.add(member)",
        breaks: 'a line that is no address is passed over, and nobody knows',
      },
      {
        text: 'if (this.#open.length > longestLine) this.#refuse(this.#count + 1)',
        becomes: '',
        breaks: 'a file that is no list is read whole into memory',
      },
    ],
  },
  {
    file: 'limits/key-count.ts',
    tests: ['limits/key-count', 'limits/limiter'],
    changes: [
      {
        text: 'if (wait > 0 && this.#used >= this.limit.most) this.#fullUntil = now + wait',
        becomes: '',
        breaks: 'each request over a limit asks the store',
      },
      {
        text: 'this.#fullUntil = Number.NEGATIVE_INFINITY\n    this.#unreported -= many',
        becomes: 'this.#unreported -= many',
        breaks: 'what is given back lets nobody in',
      },
      {
        text: 'this.#underWay -= ask.done\n    this.#known = count',
        becomes: 'this.#known = count',
        breaks: 'what was told is counted twice',
      },
      {
        text: 'this.#unreported += ask.done',
        becomes: '',
        breaks: 'what was told in vain is lost',
      },
      {
        text: 'remaining: Math.max(0, most - this.#used)',
        becomes: 'remaining: most - this.#used',
        breaks: 'clients are told of less than nothing',
      },
      {
        text: 'if (endsAt === this.#endsAt) return',
        becomes: '',
        breaks: 'a window begins anew at each look',
        tests: ['limits/limiter', 'limits/limit'],
      },
      {
        text: 'if (used < most) return',
        becomes: 'return',
        breaks: "a day's quota has no end while the store is away",
      },
      {
        text: 'this.#alone?.add(now, -many)',
        becomes: '',
        breaks: 'what another limit refused is used up while the store is away',
      },
      {
        text: 'window.until === this.#endsAt',
        becomes: 'true',
        breaks: 'an answer of yesterday counts for today',
      },
    ],
  },
  {
    file: 'limits/limiter.ts',
    tests: ['limits/limiter', 'limits/limiter-keys', 'limits/limiter-away', 'limits/limiter-pause'],
    changes: [
      {
        text: 'if (count.isFull(now)) return count.refuse(now)\n    if (this.#watch',
        becomes: 'if (this.#watch',
        breaks: 'who is over a limit asks the store again and again',
      },
      {
        text: 'if (this.#last?.limit !== limit || this.#last.key !== key)',
        becomes: 'if (this.#last?.key !== key)',
        breaks: 'a client that is counted by several limits is counted by one',
        tests: ['limits/limiter', 'limits/limiter-keys', 'edge/meter/meter'],
      },
      {
        text: 'if (this.#watch.isOut || this.#asking >= mostAsking)',
        becomes: 'if (this.#watch.isOut)',
        breaks: 'a flood of keys has as many requests wait for the store',
      },
      {
        text: 'if (!count.isFar(now)) return this.#ask(count)',
        becomes: '',
        breaks: 'several processes let in several times the limit',
        tests: ['limits/limiter', 'limits/limiter-processes'],
      },
      {
        text: 'known.limit.most === limit.most',
        becomes: 'true',
        breaks: 'a limit that was changed stays as it was until a restart',
        tests: ['limits/limiter', 'limits/limiter-keys', 'limits/limiter-away', 'limits/limiter-pause'],
      },
      {
        text: 'void call.then(late => late && this.#takeBack(count, late))',
        becomes: '',
        breaks: 'what a slow store has granted counts twice',
        tests: ['limits/limiter'],
      },
      {
        text: 'resolve(i < granted ? count.allow(now) : count.refuse(now))',
        becomes: 'resolve(count.allow(now))',
        breaks: 'all who wait for the store are let in',
      },
    ],
  },
  {
    file: 'limits/limit.ts',
    tests: ['limits/limit'],
    changes: [
      {
        text: '`${gatewayLimitName} ${account}/${id}`',
        becomes: '`${gatewayLimitName} ${id}`',
        breaks: 'gateways of one name share their limit over all accounts',
        tests: ['edge/meter/gateway'],
      },
      {
        text: 'return (Math.floor(now / day) + 1) * day',
        becomes: 'return now + day',
        breaks: "a day's quota begins whenever somebody asks",
      },
      {
        text: 'date.getUTCMonth() + 1',
        becomes: 'date.getUTCMonth()',
        breaks: "a month's quota is over before it begins",
      },
      {
        text: 'unreported: exact || most < smallest ? 0 : Math.max(1, Math.floor(most * unheard)),',
        becomes: 'unreported: exact ? 0 : Math.max(1, Math.floor(most * unheard)),',
        breaks: 'a small limit lets in one more for each process',
      },
      {
        text: '{ kind, period }, { exact: true })',
        becomes: '{ kind, period })',
        breaks: 'a rush exceeds the limit of a gateway',
      },
    ],
  },
  {
    file: 'limits/new-keys.ts',
    tests: ['limits/limiter-keys'],
    changes: [
      {
        text: 'if (this.#inSecond === perSecond || this.#inPeriod === perPeriod) return false',
        becomes: '',
        breaks: 'made-up keys fill the store',
      },
    ],
  },
  {
    file: 'limits/limits-watch.ts',
    tests: ['limits/limits-watch'],
    changes: [
      {
        text: 'if (now >= this.#complete) this.#judge',
        becomes: 'this.#judge',
        breaks: 'an outage of the store ends what differs, and it is reported again',
      },
      {
        text: 'now - this.#since.get(rule)! >= this.#grace',
        becomes: 'true',
        breaks: 'machines that are reloaded one after the other are reported',
      },
    ],
  },
  {
    file: 'limits/reports.ts',
    tests: ['limits/limiter', 'limits/limiter-away'],
    changes: [
      {
        text: 'if (!this.#watch.isOut) await Promise.all(this.#listed.map(count => this.send(count)))',
        becomes: '',
        breaks: 'what was counted last is lost at a restart',
        tests: ['limits/limiter', 'limits/limiter-processes'],
      },
    ],
  },
  {
    file: 'base/sliding-window.ts',
    tests: ['base/sliding-window'],
    changes: [
      {
        text: 'while (this.#newest < current) {',
        becomes: 'while (false) {',
        breaks: 'what left the window counts for ever',
      },
      {
        text: 'if (excess <= 0) return 0',
        becomes: '',
        breaks: 'what fits is made to wait',
      },
    ],
  },
  {
    file: 'net/address/address.ts',
    tests: ['net/address/address', 'wire/forwarding-headers'],
    changes: [
      {
        text: 'members < mostMembers && trusted.has(client); members++',
        becomes: 'members < mostMembers; members++',
        breaks: 'a client is who it says it is',
      },
      {
        text: 'if (hop === null) break',
        becomes: 'if (hop === null) continue',
        breaks: 'what stands before junk is believed',
      },
    ],
  },
  {
    file: 'net/address/client-key.ts',
    tests: ['net/address/client-key'],
    changes: [
      {
        text: 'if (address === lastAddress) return lastKey',
        becomes: "if (lastAddress !== '') return lastKey",
        breaks: 'all clients are one',
      },
      {
        text: 'return isV4 ? dotted(words[0]!) :',
        becomes: 'return',
        breaks: 'an IPv4 client has two keys by its spelling',
      },
    ],
  },
  {
    file: 'edge/exchange/facts.ts',
    tests: ['wire/access'],
    changes: [
      {
        text: 'isOverride(fields[i]!) && !equalsIgnoreCase(fields[i + 1]!, own)',
        becomes: 'false',
        breaks: 'X-HTTP-Method-Override bypasses a rule on methods',
      },
      {
        text: 'id === field.clientCertificate ? null : abroad(id, fields[i + 1]!)',
        becomes: 'id === field.clientCertificate ? null : fields[i + 1]!',
        breaks: 'a rewrite copies the session of a person to an origin',
        tests: ['wire/own-cookies'],
      },
    ],
  },
  {
    file: 'base/path/path-readings.ts',
    tests: ['base/path/path-readings', 'wire/path-readers'],
    changes: [
      {
        text: "path => path.replaceAll('%2F', '/'),",
        becomes: '',
        breaks: 'an encoded slash slips by a rule',
        tests: ['base/path/path-readings'],
      },
      {
        text: "path => path.replaceAll('\\\\', '/'),",
        becomes: '',
        breaks: 'a backslash slips by a rule',
        tests: ['base/path/path-readings'],
      },
      {
        text: 'const end = path.search(/%3F|%23/)',
        becomes: 'const end = -1',
        breaks: 'a rule is bypassed by %3F before a server that hands on what it decoded',
        tests: ['base/path/path-readings', 'wire/path-readers'],
      },
      {
        text: '  withoutBlanks,\n',
        becomes: '',
        breaks: 'a rule is bypassed by %0A before an origin that trims paths',
        tests: ['base/path/path-readings', 'wire/path-readers'],
      },
      {
        text: 'if (readings.size > most) return null',
        becomes: '',
        breaks: 'a path of a thousand readings costs a worker its time',
        tests: ['base/path/path-readings'],
      },
      {
        text: 'path.length > longest ? null : readingsOf',
        becomes: 'readingsOf',
        breaks: 'a path of any length costs a worker its time',
        tests: ['base/path/path-readings', 'edge/work'],
      },
    ],
  },
  {
    file: 'base/path/path-prefixes.ts',
    tests: ['base/path/path-prefixes', 'access/policy'],
    changes: [
      {
        text: 'isBorder(path, length) && this.#prefixes.has(path.slice(0, length))',
        becomes: "path[length] === '/' && this.#prefixes.has(path.slice(0, length))",
        breaks: 'a rule for /admin lets /admin itself in, where there are many',
      },
    ],
  },
  {
    file: 'base/path/path.ts',
    tests: ['base/path/path'],
    changes: [
      {
        text: 'if (kept.length > 1) kept.pop()',
        becomes: 'kept.pop()',
        breaks: 'a path leads above its root',
      },
      {
        text: 'return isBorder(path, prefix.length) && path.startsWith(prefix)',
        becomes: 'return path.startsWith(prefix)',
        breaks: 'a rule for /admin holds for /administration',
      },
      {
        text: 'if (next === 0x2f || next === 0x2e) return false',
        becomes: '',
        breaks: 'a path with two slashes counts as plain',
      },
    ],
  },
  {
    file: 'base/memo.ts',
    tests: ['access/policy'],
    changes: [
      {
        text: 'if (last === null || last.key !== key)',
        becomes: 'if (last === null)',
        breaks: 'every client is judged by the User-Agent of the first',
      },
    ],
  },
]
