// Mutations of what is remembered, and of reading and writing it.

import type { Mutated } from './mutation.ts'

export const store: readonly Mutated[] = [
  {
    file: 'store/sqlite/database/foreign-writes.ts',
    tests: ['store/sqlite/database/foreign-writes'],
    changes: [
      {
        text: 'writtenAt !== last.writtenAt && checkpoint === last.checkpoint',
        becomes: 'false',
        breaks: 'changes are confirmed on pages of a backup that was copied over the store',
      },
      {
        text: 'isUnexplained || pages < fewest',
        becomes: 'isUnexplained',
        breaks: 'a backup is taken for the store where SQLite wrote to it at the same time',
      },
      {
        text: 'if (fstatSync(this.#log).size < logHead + frames * frame) return false',
        becomes: 'if (fstatSync(this.#log).size < logHead) return true',
        breaks: 'changes are confirmed on an emptied log of writes',
      },
      {
        text: 'return readAt(this.#log, saltInLog, 8).equals(index.subarray(salt * 4, salt * 4 + 8))',
        becomes: 'return true',
        breaks: 'changes are confirmed on the log of another database',
      },
      {
        text: 'if (words[nBackfill] !== words[nBackfillAttempted]) return null',
        becomes: '',
        breaks: 'changes are refused because SQLite moved pages',
      },
    ],
  },
  {
    file: 'store/sqlite/sqlite-store.ts',
    tests: ['store/sqlite/database/open-files'],
    changes: [
      {
        text: '    look(isClosing ? watched.slice(place, place + 1) : watched)\n    expectTrusted(degradation)',
        becomes: '    expectTrusted(degradation)',
        breaks: 'a change is confirmed that went into a removed file',
      },
      {
        text: 'if (watched[place]!.open.hasLostLog) db.checkpoint()',
        becomes: '',
        breaks: 'what was confirmed is lost with the log of writes',
      },
      {
        text: 'if (!isSame()) throw',
        becomes: 'if (false) throw',
        breaks: 'a worker opens another store than its gateway',
      },
    ],
  },
  {
    file: 'store/copy.ts',
    tests: ['process/commands/store-copy'],
    changes: [
      {
        text: '    await at(to, begin(from, to, now))\n',
        becomes: '',
        breaks: 'a copy that was killed half-way is started on without its rules that deny',
      },
    ],
  },
  {
    file: 'store/redis/record-scripts.ts',
    tests: ['store/redis/record-scripts'],
    changes: [
      {
        text: 'math.max(time[1] * 1000000 + time[2], last + 1)',
        becomes: 'time[1] * 1000000 + time[2]',
        breaks: 'a version comes twice where the clock goes back, and a change overwrites another',
      },
      {
        text: "unmark(oldMarks)\nredis.call('ZREM', KEYS[5], id)",
        becomes: "redis.call('ZREM', KEYS[5], id)",
        breaks: 'the digest of a deleted token stays for ever',
      },
      {
        text: 'if oldVersion ~= last then return 0 end',
        becomes: '',
        breaks: 'a change overwrites another one',
        tests: ['store/redis/contract', 'store/redis/record-scripts'],
      },
      {
        text: 'if oldMarks ~= marks then unmark(oldMarks) end',
        becomes: '',
        breaks: 'a token that was rolled works on',
      },
      {
        text: 'if isLast(oldMarks, marks) then return -1 end',
        becomes: '',
        breaks: 'the last super administrator is demoted',
        tests: ['store/redis/contract'],
      },
      {
        text: "if isLast(oldMarks, '') then return -1 end",
        becomes: '',
        breaks: 'the last super administrator is removed',
        tests: ['store/redis/contract'],
      },
      {
        text: 'if owner and owner ~= field then return true end',
        becomes: '',
        breaks: 'two users have one e-mail address',
        tests: ['store/redis/contract'],
      },
      {
        text: "if last ~= '' and oldVersion ~= last then return 0 end",
        becomes: '',
        breaks: 'a record is removed that was changed meanwhile',
        tests: ['store/redis/contract'],
      },
      {
        text: 'return owner and owner ~= field',
        becomes: 'return false',
        breaks: 'two tokens have one digest',
      },
      {
        text: "if redis.call('HLEN', KEYS[10]) > 0 then return 0 end",
        becomes: '',
        breaks: 'two first starts make two accounts',
        tests: ['store/redis/contract'],
      },
    ],
  },
  {
    file: 'store/redis/logs/log-scripts.ts',
    tests: ['store/redis/logs/logs', 'store/redis/contract'],
    changes: [
      {
        text: "if redis.call('HEXISTS', KEYS[3], id) == 1 then\n    kept = kept + 1\n  elseif",
        becomes: 'if',
        breaks: 'an entry that is written again is kept twice',
        tests: ['store/redis/contract'],
      },
      {
        text: 'if added[id] then kept = kept - 1 end',
        becomes: '',
        breaks: 'entries count as kept that were not',
        tests: ['store/redis/contract', 'store/redis/logs/logs'],
      },
      {
        text: "redis.call('HDEL', KEYS[4], id)\nend\nreturn kept`",
        becomes: 'end\nreturn kept`',
        breaks: 'bodies stay of entries that had to go',
        tests: ['store/redis/logs/logs'],
      },
    ],
  },
  {
    file: 'store/redis/removed-gateways.ts',
    tests: ['store/redis/removed-gateways'],
    changes: [
      {
        text: "if (isAtRest) await this.#records.run(['ZREM', keys.graves, grave])",
        becomes: "await this.#records.run(['ZREM', keys.graves, grave])",
        breaks: 'logs that were on their way stay without an owner',
      },
    ],
  },
  {
    file: 'store/redis/server/durability.ts',
    tests: ['store/redis/server/durability'],
    changes: [
      {
        text: 'if (confirmed < needed) throw this.#refuse(lackOf(confirmed, needed))',
        becomes: '',
        breaks: 'a write counts that no replica has',
      },
      {
        text: 'while (before !== null && !this.#replicas.haveAll(facts.replicas ?? [], before.offset))',
        becomes: 'while (before === null)',
        breaks: 'a write counts that only replicas have which cannot become the primary',
        tests: ['store/redis/blind'],
      },
      {
        text: 'this.#hasLost ||= isShort(facts.former, this.#proved)',
        becomes: '',
        breaks: 'nobody hears that confirmed changes are lost',
      },
      {
        text: 'if (this.#replicas.needed !== 0) await (this.#absence ??= this.#proveSoon())',
        becomes: '',
        breaks: 'a stale primary says that a token does not exist',
        tests: ['store/redis/server/sentinel'],
      },
      {
        text: 'this.#refusal = this.#denied.size > 0 ? denial : null',
        becomes: 'this.#refusal = null',
        breaks: 'writes count as accepted again while each is denied',
        tests: ['store/redis/scripts'],
      },
    ],
  },
  {
    file: 'store/redis/server/replicas.ts',
    tests: ['store/redis/server/replicas'],
    changes: [
      {
        text: 'return view && Math.max(1, view.electable.length,',
        becomes: 'return view && Math.max(0, view.electable.length,',
        breaks: 'an old primary without replicas confirms writes by itself',
      },
      {
        text: 'this.#seen = Math.max(this.#seen, followers)',
        becomes: 'this.#seen = followers',
        breaks: 'a replica that went away is not waited for',
        tests: ['store/redis/server/replicas', 'store/redis/server/durability'],
      },
    ],
  },
  {
    file: 'store/redis/server/sentinels.ts',
    tests: ['store/redis/server/sentinel'],
    changes: [
      {
        text: 'const most = Math.floor(this.#count(fresh) / 2) + 1',
        becomes: 'const most = 1',
        breaks: 'one Sentinel that is cut off with an old primary is believed',
      },
      {
        text: 'return this.#clock.monotonic() < this.#until ? this.#view : null',
        becomes: 'return this.#view',
        breaks: 'what Sentinels said is believed for ever',
      },
    ],
  },
  {
    file: 'store/redis/server/script.ts',
    tests: ['store/redis/scripts'],
    changes: [
      {
        text: 'return { ...textOf(guard + body), rehearsal: textOf(guard) }',
        becomes: 'return { ...textOf(body), rehearsal: textOf(guard) }',
        breaks: 'a denied command leaves half of a write',
      },
    ],
  },
  {
    file: 'store/redis/companion-writes.ts',
    tests: ['store/redis/contract'],
    changes: [
      {
        text: "tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[5])",
        becomes: 'true',
        breaks: 'a response that has expired keeps its key',
        tests: ['store/redis/stored-responses', 'store/redis/contract'],
      },
      {
        text: "if redis.call('HSETNX', entries, id, json) == 0 then return end",
        becomes: "redis.call('HSET', entries, id, json)",
        breaks: 'an audit entry is written over',
        tests: ['store/redis/contract', 'store/redis/audit'],
      },
    ],
  },
  {
    file: 'store/sqlite/companion-writes.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: 'if (response && responses.hasWithin(response)) return false',
        becomes: '',
        breaks: 'a request that is sent again is done again',
      },
      {
        text: 'if (audit) log.appendWithin(audit)',
        becomes: '',
        breaks: 'a change leaves no audit entry',
      },
    ],
  },
  {
    file: 'store/sqlite/logs/log-thread.ts',
    tests: ['store/sqlite/logs/log-thread'],
    changes: [
      {
        text: 'isHopeless ? cause : new StoreUnreachable(cause)',
        becomes: 'cause',
        breaks: 'log entries are dropped when their thread ends once',
      },
      {
        text: 'const isHopeless = ++this.#deaths === mostDeaths',
        becomes: 'const isHopeless = false',
        breaks: 'a batch that ends its thread stops the log for good',
      },
    ],
  },
  {
    file: 'store/sqlite/logs/segments.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: '(madeAt !== null && row.created_at !== madeAt)',
        becomes: 'false',
        breaks: 'a gateway keeps calls of another one that had its name',
      },
    ],
  },
  {
    file: 'store/sqlite/logs/thread-program.ts',
    tests: ['store/sqlite/logs/log-thread'],
    changes: [
      {
        text: "url.search = 'mode=rw'",
        becomes: '',
        breaks: 'a store that is gone comes back empty, for all to read',
      },
    ],
  },
  {
    file: 'store/records/credential.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: "if (!isDigest(digest)) throw new TypeError('the digest of a credential must be SHA-256 in hex')",
        becomes: '',
        breaks: 'the value of a token is kept',
      },
      {
        text: 'return last !== null && last.spent !== digest',
        becomes: 'return false',
        breaks: 'a stolen refresh token works on after the one that came of it was used',
      },
      {
        text: 'return last !== null && last.refresh !== digest',
        becomes: 'return false',
        breaks: 'two chains of refresh tokens go on beside each other',
      },
    ],
  },
  {
    file: 'store/sqlite/credentials.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: 'AND expires_at > ?3 AND consumed_at IS NULL`',
        becomes: 'AND expires_at > ?3`',
        breaks: 'a code works twice',
      },
      {
        text: 'AND expires_at > ?10 AND consumed_at IS NULL`',
        becomes: 'AND expires_at > ?10`',
        breaks: 'a refresh token that was used is good again',
      },
      {
        text: "const found = 'digest = ? AND kind = ? AND expires_at > ?'",
        becomes: "const found = 'digest = ? AND kind = ? AND ? IS NOT NULL'",
        breaks: 'a token that has expired works on',
      },
      {
        text: 'consumed_at = iif(expires_at > ?10, coalesce(consumed_at, ?8), ?8)`',
        becomes: 'consumed_at = ?8`',
        breaks: 'a code that is written again works again',
      },
      {
        text: 'if (isReplay(kept, asked, last)) {',
        becomes: 'if (false) {',
        breaks: 'of parallel exchanges several win',
      },
      {
        text: "if (hasEnded) return { outcome: 'ended', consumedAt: null }",
        becomes: '',
        breaks: 'a family that was ended gets more tokens',
      },
      {
        text: 'return hasGoneOn ? null : last',
        becomes: 'return last',
        breaks: 'apps lose their access while an earlier version runs beside this one',
      },
      {
        text: 'else if (last !== null) isTold = this.#supersede(last, at)',
        becomes: '',
        breaks: 'a response that was lost leaves a second chain of refresh tokens',
      },
      {
        text: "if (isRemoved) this.#note('access_token', access)",
        becomes: '',
        breaks: 'an access token that was lost works on in other processes',
      },
      {
        text: 'this.#note(endKind, end.digest)',
        becomes: '',
        breaks: 'tokens of a code that came again work on in other processes',
      },
      {
        text: 'if (isDone) this.#note(kind, digest)',
        becomes: '',
        breaks: 'a session that was ended goes on in other processes',
      },
      {
        text: 'if (count > 0) this.#note(ownerKind, ownerId)',
        becomes: '',
        breaks: 'who signs out everywhere stays signed in elsewhere',
      },
      {
        text: 'if (count < removeStep) return removed',
        becomes: 'return removed',
        breaks: 'of many tokens some are left when a client goes',
      },
    ],
  },
  {
    file: 'store/redis/credentials.ts',
    tests: ['store/redis/contract'],
    changes: [
      {
        text: 'if (removed === 0) await this.#writes.confirm()',
        becomes: '',
        breaks: 'sessions that a failover brings back are called ended',
        tests: ['store/redis/credentials'],
      },
      {
        text: "if consumed ~= '-' then return {0, old} end",
        becomes: '',
        breaks: 'a code works twice',
      },
      {
        text: "if consumed and consumed ~= '-' then parts[2] = consumed end",
        becomes: '',
        breaks: 'a code that is written again works again',
      },
      {
        text: "if isEnded then return {'ended', '-'} end",
        becomes: '',
        breaks: 'a family that was ended gets more tokens',
      },
      {
        text: "return {'replayed', consumed}",
        becomes: '',
        breaks: 'of parallel exchanges several win',
      },
      {
        text: 'if isLate or isOther then',
        becomes: 'if isLate then',
        breaks: 'a stolen refresh token works on after the one that came of it was used',
      },
      {
        text: `if alive(successor, time) and not string.find(successor, '^%S+ %- ') then last, isOther = '', false end`,
        becomes: '',
        breaks: 'apps lose their access while an earlier version runs beside this one',
      },
      {
        text: "keep(KEYS[9], tonumber(ends), ends .. ' ' .. at .. ' ' .. parts, tonumber(shift))",
        becomes: '',
        breaks: 'a response that was lost leaves a second chain of refresh tokens',
      },
      {
        text: "elseif last ~= '' then\n  if last ~= known then return {'again', last} end",
        becomes: "elseif last ~= '' then",
        breaks: 'of parallel uses of a refresh token several chains are left',
      },
      {
        text: "if redis.call('DEL', KEYS[10]) == 1 then tell(channel, stamp(), 'credential', 'access_token', access) end",
        becomes: "redis.call('DEL', KEYS[10])",
        breaks: 'an access token that was lost works on in other processes',
      },
      {
        text: "  tell(channel, stamp(), 'credential', 'ended_family', digest)\n",
        becomes: '',
        breaks: 'tokens of a code that came again work on in other processes',
      },
      {
        text: "or not string.find(old, '^%S+ %- ')",
        becomes: '',
        breaks: 'a refresh token that was used is good again',
      },
      {
        text: 'return credential.expiresAt > this.#clock.now() ? credential : null',
        becomes: 'return credential',
        breaks: 'a token that has expired works on',
      },
      {
        text: "tell(channel, stamp(), 'credential', kind, digest)",
        becomes: '',
        breaks: 'a session that was ended goes on in other processes',
      },
      {
        text: "if count > 0 then tell(channel, stamp(), 'credential', kind, id) end",
        becomes: '',
        breaks: 'who signs out everywhere stays signed in elsewhere',
      },
      {
        text: "isTheirs = isTheirs and (ARGV[at + 4] == '-' or ARGV[at + 4] == owners[at])",
        becomes: '',
        breaks: 'what came to another user goes with what the first one had',
      },
      {
        text: "if redis.call('PTTL', all) < expires - time then redis.call('PEXPIREAT', all, expires - shift) end",
        becomes: "redis.call('PEXPIREAT', all, expires - shift)",
        breaks: 'who ends a long session beside a short one finds it no more',
        tests: ['store/redis/credentials'],
      },
    ],
  },
  {
    file: 'store/sqlite/authorization-events.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: 'this.#trim(part, number - (isUnproven ? mostUnproven : mostEvents))',
        becomes: '',
        breaks: 'the events of a client grow without end',
      },
      {
        text: '.filter(event => event.clientAccount === clientAccount)',
        becomes: '',
        breaks: 'an account reads the events of a client of another one',
      },
    ],
  },
  {
    file: 'store/redis/authorization-events.ts',
    tests: ['store/redis/contract'],
    changes: [
      {
        text: "redis.call('LTRIM', KEYS[1], 0, ARGV[2])",
        becomes: '',
        breaks: 'the events of a client grow without end',
      },
      {
        text: 'event.clientAccount === clientAccount && ',
        becomes: '',
        breaks: 'an account reads the events of a client of another one',
      },
    ],
  },
  {
    file: 'store/sqlite/people.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: 'if (hadSuper && !hasSuper(account)) throw new LastSuperAdministrator()',
        becomes: '',
        breaks: 'an account loses its last super administrator',
      },
    ],
  },
  {
    file: 'store/sqlite/records.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: 'if (isDone) changes.note(version, this.#kind.name, account, id)',
        becomes: '',
        breaks: 'other processes do not hear of a change',
      },
    ],
  },
  {
    file: 'store/sqlite/oauth-clients.ts',
    tests: ['store/sqlite/sqlite-store', 'store/sqlite/oauth-clients'],
    changes: [
      {
        text: 'for (const row of rows) this.#lease(now + lease, row.key!)',
        becomes: '',
        breaks: 'two processes ask for one domain',
      },
    ],
  },
  {
    file: 'store/sqlite/changes.ts',
    tests: ['store/sqlite/changes'],
    changes: [
      {
        text: 'const isWhole = rows.length === 0 || rows[0]!.version === told + 1',
        becomes: 'const isWhole = true',
        breaks: 'who fell behind does not hear that all may have changed',
      },
      {
        text: 'this.#trim(version - remembered)',
        becomes: '',
        breaks: 'the list of changes grows for ever',
      },
    ],
  },
  {
    file: 'store/contract/trust.ts',
    tests: ['store/sqlite/sqlite-store', 'store/contract/trust'],
    changes: [
      {
        text: 'if (isLate) return',
        becomes: '',
        breaks: 'an answer that comes late speaks a store free that lost changes',
      },
      {
        text: 'if (isSame && (seen.isBehind ? isExact : isExact || generation > seen.generation)) return null',
        becomes: 'if (isSame) return null',
        breaks: 'a store that lost changes is used as if nobody had made them',
      },
      {
        text: 'seen.isBehind ? isExact : isExact || generation > seen.generation',
        becomes: 'isExact || generation > seen.generation',
        breaks: 'changes that were lost are forgotten once others are made',
      },
      {
        text: 'if (this.#doubt !== null) throw new StoreDegraded(this.#doubt)',
        becomes: '',
        breaks: 'sessions are read of a store that is in doubt',
      },
    ],
  },
  {
    file: 'process/store/key-watch.ts',
    tests: ['process/store/key-watch'],
    changes: [
      {
        text: 'named === null || this.#keys.knows(named)',
        becomes: 'true',
        breaks: 'a machine with another key takes the store for its own',
      },
      {
        text: ' || (isKnown && this.#isServing && !this.#isNamed)',
        becomes: '',
        breaks: 'the store names a key that was replaced',
      },
      {
        text: 'isKnown && this.#isServing && ',
        becomes: 'isKnown && ',
        breaks: 'a gateway that does not come to serve replaces the key of the one before it',
      },
    ],
  },
  {
    file: 'store/copy.ts',
    tests: ['store/copy'],
    changes: [
      {
        text: '    await at(from, from.continueAs({ ...before, identity }))\n',
        becomes: '',
        breaks: 'changes that are confirmed during a move are lost',
      },
      {
        text: '    await settle?.()\n',
        becomes: '',
        breaks: 'changes that are confirmed since another move failed are lost',
      },
      {
        text: 'if (!isMoved(before)) await reopen',
        becomes: 'if (isMoved(before)) await reopen',
        breaks: 'a move that fails has the store refuse changes from then on',
      },
    ],
  },
  {
    file: 'store/sqlite/sqlite-store.ts',
    tests: ['store/sqlite/sqlite-store'],
    changes: [
      {
        text: '      marks?.check(trust)\n      check(1)',
        becomes: '      check(1)',
        breaks: 'sessions that begin during a move are lost',
      },
    ],
  },
  {
    file: 'store/copy.ts',
    tests: ['process/store/key-watch'],
    changes: [
      {
        text: '    await copyKeyNote(from, to)\n',
        becomes: '',
        breaks: 'a machine with another key takes a copy for its own',
      },
    ],
  },
  {
    file: 'store/redis/server/requirements.ts',
    tests: ['store/redis/server/requirements'],
    changes: [
      {
        text: "evictionIn(facts) !== 'any'",
        becomes: 'true',
        breaks: 'a server that may evict all rules is the store',
      },
      {
        text: "kind !== 'cluster' && isNodeOfCluster(info, hello)",
        becomes: 'false',
        breaks: 'a node of a cluster that lacks keys is the store',
      },
    ],
  },
  {
    file: 'store/redis/server/connection.ts',
    tests: ['store/redis/server/requirements'],
    changes: [
      {
        text: 'if (unfit !== null) throw unfit',
        becomes: '',
        breaks: 'a server that refuses some of the scripts is the store',
      },
    ],
  },
  {
    file: 'store/sqlite/audit.ts',
    tests: ['store/sqlite/audit', 'store/sqlite/sqlite-store'],
    changes: [
      {
        text: 'return times.filter((at, i) => i < excess || at < before)',
        becomes: 'return times.filter((at, i) => i < excess && at < before)',
        breaks: 'audit entries are kept beyond what is set',
        tests: ['store/sqlite/sqlite-store'],
      },
      {
        text: 'this.#raiseActor(account, actor, -times.length)',
        becomes: '',
        breaks: 'the entries of a token are counted that are gone',
        tests: ['store/sqlite/sqlite-store', 'store/sqlite/audit'],
      },
    ],
  },
  {
    file: 'store/sqlite/database/write-queue.ts',
    tests: ['store/sqlite/database/database'],
    changes: [
      {
        text: 'if (this.#waiting.length >= mostWaiting) return',
        becomes: 'if (false) return',
        breaks: 'writes that wait fill the memory',
      },
      {
        text: 'transactions.rollback()',
        becomes: '',
        breaks: 'a write that failed is half done',
      },
      {
        text: 'while (this.#waiting.length > 0) this.#transact()',
        becomes: '',
        breaks: 'writes that were asked for are lost at a stop',
      },
      {
        text: 'if (isAlone || isOutOfReach(failure) || !transactions.isOpen) throw failure',
        becomes: 'throw failure',
        breaks: 'one write that fails undoes those that share its commit',
      },
    ],
  },
  {
    file: 'store/sqlite/database/transactions.ts',
    tests: ['store/sqlite/database/database'],
    changes: [
      {
        text: 'if (this.isOpen) this.#undo.run()',
        becomes: '',
        breaks: 'what a failed write did is kept',
      },
    ],
  },
  {
    file: 'store/cache/read-through.ts',
    tests: ['store/cache/read-through'],
    changes: [
      {
        text: 'this.#isOvertaken(key, value, heard) ? null : askedAt',
        becomes: 'askedAt',
        breaks: 'a revoked token is remembered as good',
      },
      {
        text: 'if (age <= trust) return true',
        becomes: 'if (age >= 0) return true',
        breaks: 'a revoked token works on where no notice comes',
      },
      {
        text: 'if (this.#triesAt === null || age > this.#options.grace) return false',
        becomes: 'if (this.#triesAt === null) return false',
        breaks: 'a token lives on for ever while the store is away',
      },
      {
        text: 'if (this.#options.concerns(change, value)) this.#values.delete(key)',
        becomes: '',
        breaks: 'a revoked token works until it is looked up again',
      },
      {
        text: 'for (const key of [...(this.#groups.get(ended) ?? [])]) this.#values.delete(key)',
        becomes: '',
        breaks: 'tokens of a code that came again work on',
      },
      {
        text: '(value !== null && name === this.#groupOf(value))',
        becomes: 'false',
        breaks: 'a token that is looked up while its code comes again is remembered as good',
      },
      {
        text: 'this.#misses.clear()',
        becomes: '',
        breaks: 'a token that was just made is unknown',
      },
      {
        text: 'if (this.#loading >= mostLoads) return',
        becomes: 'if (false) return',
        breaks: 'a flood of made-up tokens is passed on to the store',
      },
      {
        text: "if (change.kind === 'everything') return this.#values.clear()",
        becomes: '',
        breaks: 'who fell behind trusts what it knew',
      },
      {
        text: 'if (ended !== null ? this.#isNamed(ended, key, value) : this.#mayBeOf(value, change)) return true',
        becomes: 'if (ended === null && this.#mayBeOf(value, change)) return true',
        breaks: 'a credential that ended while it was looked up is remembered',
      },
      {
        text: 'if (after < this.#unkept) return true',
        becomes: '',
        breaks: 'a flood of changes hides the one that revokes what is looked up',
      },
      {
        text: 'this.#values.delete(ended)',
        becomes: '',
        breaks: 'a credential that ended works until it is looked up again',
      },
      {
        text: 'this.#ageOf(old, now) <= this.#options.grace',
        becomes: 'true',
        breaks: 'an old value lives on beyond the grace',
      },
    ],
  },
  {
    file: 'store/copy.ts',
    tests: ['store/copy'],
    changes: [
      {
        text: 'if (copy === null && (await at(to, to.accounts.list())).length > 0)',
        becomes: 'if (false)',
        breaks: 'a copy is mixed into a store that is used',
      },
      {
        text: 'if (!isNew) throw new Error(`the ${kind} ${id} already exists`)',
        becomes: '',
        breaks: 'a copy that left something out counts as whole',
      },
      {
        text: 'if (kept < entries.length) throw new Error(`the gateway ${id} was deleted during the copy`)',
        becomes: '',
        breaks: 'a copy that lost logs counts as whole',
      },
    ],
  },
]
