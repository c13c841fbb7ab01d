// Verifies tokens. While the store is unreachable, known ones stay valid for the grace, others are refused.

import { timingSafeEqual } from 'node:crypto'
import { AddressSet } from '../net/address/address.ts'
import type { AiMetrics, RefuseReason } from '../metrics/counters/ai-metrics.ts'
import { ownText } from '../base/text/own-text.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Lent } from '../store/cache/cache-handover.ts'
import { ReadThrough, type RecordChange } from '../store/cache/read-through.ts'
import type { Actor, Api, Token } from '../store/records/records.ts'
import { type MaybeAtOnce, type Store, StoreUnreachable } from '../store/contract/store.ts'
import { RecentTokenFilter } from './recent-token-filter.ts'
import { digestOf, isWellFormed } from './token.ts'
import type { TokenTags } from './token-tags.ts'

export type TokenFault = Exclude<RefuseReason, 'forbidden' | 'misplaced'>

interface VerifierOptions {
  readonly store: Store
  /** Ms for which a verified token stays valid while the store is unreachable. */
  readonly grace: number
  /** Counts lookups; decisions are counted where they are made. */
  readonly metrics: AiMetrics
  readonly access?: TokenSource | null
  /** Without it, no personal token is valid. */
  readonly people?: PeopleOfTokens | null
  readonly tags?: Pick<TokenTags, 'mayExist'> | null
  readonly announce?: ((kind: TokenForm, digest: string) => void) | undefined
  /** Gets cached tokens of other processes while the store is unreachable; never rejects. */
  readonly borrow?: ((kind: TokenForm, digest: string) => Promise<Lent<Token> | null>) | undefined
  /** Called for a verified API token; returns when to call it again for that token (ms since the epoch). */
  readonly used?: ((token: Token) => number) | undefined
  readonly clock?: Clock
}

interface TokenSource {
  /** Rejects with `StoreUnreachable`. */
  find(digest: string): MaybeAtOnce<Token | null>
  readonly kinds: readonly RecordChange['kind'][]
  concerns(change: RecordChange, token: Token): boolean
  /** Returns the digest or the group of the tokens that a change ends; null if it may concern any. */
  endedBy(change: RecordChange): string | null
  /** As `endedBy` names it; null for none. */
  groupOf?(token: Token): string | null
}

interface PeopleOfTokens {
  /** Applies the owner's current rights; null for a former member. */
  reach(token: Token & Required<Pick<Token, 'person'>>): MaybeAtOnce<Token | null>
  readonly kinds: readonly RecordChange['kind'][]
  concerns(change: RecordChange, token: Token): boolean
}

type TokenForm = 'token' | 'access_token'

/** What a token is to open: an API, or a route with a gate. */
type Opened = Api | 'route'

/**
 * The last token on a connection: usually the next one is the same, and then needs no new digest. The value
 * is set once a token came twice: connections of proxies carry those of many clients.
 */
export class LastToken {
  value: string | null = null
  digest = ''
  form: TokenForm = 'token'
  /** The cached token, once its digest was confirmed. */
  compiled: CompiledToken | null = null
}

interface CompiledToken {
  readonly token: Token
  readonly digest: Buffer
  readonly allowed: AddressSet | null
  readonly denied: AddressSet | null
  /** From when on a use is reported, in ms since the epoch. */
  reportFrom: number
}

const size = 10_000
const missLife = 5_000

export class TokenVerifier {
  readonly #options: VerifierOptions
  readonly #caches: Readonly<Record<TokenForm, ReadThrough<CompiledToken> | null>>
  readonly #lookups: AiMetrics['lookups']
  readonly #clock: Clock
  readonly #recentTokens = new RecentTokenFilter()

  constructor(options: VerifierOptions, source: TokenVerifier | null = null) {
    const { store, metrics, access = null, people = null, clock = systemClock } = options
    this.#options = options
    this.#lookups = metrics.lookups
    this.#clock = clock
    this.#caches = (source === null ? null : source.#caches) ?? {
      token: rememberedOf(options, 'token', {
        find: digest => {
          const result = store.tokens.findByDigest(digest)
          return result instanceof Promise
            ? result.then(token => reachOf(token, people))
            : reachOf(result, people)
        },
        kinds: ['token', ...(people?.kinds ?? [])],
        concerns: (change, token) =>
          change.kind === 'token'
            ? token.id === change.id && token.account === change.account
            : people?.concerns(change, token) === true,
        endedBy: () => null,
      }),
      // Separate, since a thousand changes a second end access tokens, and none of the others.
      access_token: access && rememberedOf(options, 'access_token', access),
    }
  }

  /** Returns a verifier with the same cache that counts its lookups elsewhere and reports no uses. */
  countingIn(metrics: AiMetrics): TokenVerifier {
    return new TokenVerifier({ ...this.#options, metrics, used: undefined }, this)
  }

  /** At once if the token is cached or malformed; never rejects. `address` is null if unknown. */
  verify(
    value: string | null,
    address: string | null,
    api: Opened,
    last: LastToken | null = null,
  ): MaybeAtOnce<Token | TokenFault> {
    if (value === null) return 'missing'
    if (value === last?.value) return this.#verifyDigest(last.form, last.digest, address, api, last)
    const form = value.charCodeAt(markOfForm) === accessMark ? 'access_token' : 'token'
    if (!isWellFormed(value, form === 'token' ? 'svct_' : 'svco_')) return 'malformed'
    const mayBeRecent = this.#recentTokens.has(value)
    if (!mayBeRecent && this.#isMadeUp(value)) return 'unknown'
    const digest = digestOf(value)
    const verdict = this.#verifyDigest(form, digest, address, api, null, mayBeRecent ? value : null)
    if (typeof verdict === 'object' && !(verdict instanceof Promise)) {
      this.#recentTokens.note(value)
      if (last !== null) show(last, value, digest, form)
    }
    return verdict
  }

  /** Whether a verified token is cached unchanged, and has not expired. It counts as used once more. */
  isCurrent(token: Token): boolean {
    const compiled = this.#caches[token.actor === undefined ? 'token' : 'access_token']?.cached(token.digest)
    if (compiled?.token !== token) return false
    const now = this.#clock.now()
    if (token.expiresOn !== null && now >= token.expiresOn) return false
    if (now >= compiled.reportFrom) this.#reportUse(compiled)
    return true
  }

  /** Verifies a token anew that was verified before, without its value; never rejects. */
  review({ actor, digest }: Token, address: string | null, api: Opened): MaybeAtOnce<Token | TokenFault> {
    return this.#verifyDigest(actor === undefined ? 'token' : 'access_token', digest, address, api, null)
  }

  /** Reads a token from the store, unless it is cached; rejects with `StoreUnreachable`. */
  async recall(form: TokenForm, digest: string): Promise<void> {
    await this.#caches[form]?.recall(digest)
    this.#lookups.told.inc()
  }

  lend(form: TokenForm, digest: string): Lent<Token> | null {
    const loan = this.#caches[form]?.lend(digest) ?? null
    return loan && { value: loan.value.token, age: loan.age }
  }

  *loans(): Iterable<readonly [form: TokenForm, digest: string, lent: Lent<Token>]> {
    for (const form of ['token', 'access_token'] as const)
      for (const [digest, { value, age }] of this.#caches[form]?.loans() ?? [])
        yield [form, digest, { value: value.token, age }]
  }

  adopt(form: TokenForm, digest: string, loan: Lent<Token>): void {
    const { actor } = loan.value
    // An older version does not say what its user is a member of.
    if (actor?.resources !== undefined && actor.memberships === undefined) return
    this.#caches[form]?.adopt(digest, compileLent(loan))
  }

  #isMadeUp(value: string): boolean {
    return this.#options.tags?.mayExist(value) === false
  }

  /** `untried` is the token if its tag was not checked. */
  #verifyDigest(
    form: TokenForm,
    digest: string,
    address: string | null,
    api: Opened,
    last: LastToken | null,
    untried: string | null = null,
  ): MaybeAtOnce<Token | TokenFault> {
    const cache = this.#caches[form]
    const cached = cache === null ? null : cache.cached(digest)
    if (cached === undefined)
      return untried !== null && this.#isMadeUp(untried)
        ? 'unknown'
        : this.#lookUp(cache!, digest, address, api)
    this.#lookups.remembered.inc()
    return this.#judge(cached, digest, address, api, last)
  }

  #lookUp(
    cache: ReadThrough<CompiledToken>,
    digest: string,
    address: string | null,
    api: Opened,
  ): MaybeAtOnce<Token | TokenFault> {
    this.#lookups.asked.inc()
    const token = cache.query(digest)
    return token instanceof Promise
      ? this.#judgeLater(token, digest, address, api)
      : this.#judge(token, digest, address, api)
  }

  async #judgeLater(
    token: Promise<CompiledToken | null>,
    digest: string,
    address: string | null,
    api: Opened,
  ): Promise<Token | TokenFault> {
    try {
      return this.#judge(await token, digest, address, api)
    } catch (error) {
      if (error instanceof StoreUnreachable) return 'store_unreachable'
      throw error
    }
  }

  #judge(
    compiled: CompiledToken | null,
    digest: string,
    address: string | null,
    api: Opened,
    last: LastToken | null = null,
  ): Token | TokenFault {
    if (compiled === null || (compiled !== last?.compiled && !matches(compiled.digest, digest)))
      return 'unknown'
    if (last !== null) last.compiled = compiled
    const { token, allowed, denied } = compiled
    if (token.status === 'disabled') return 'disabled'
    const now = this.#clock.now()
    if (token.notBefore !== null && now < token.notBefore) return 'not_yet_valid'
    if (token.expiresOn !== null && now >= token.expiresOn) return 'expired'
    if (token.actor !== undefined && !opens(token.actor, api)) return 'other_api'
    if (token.person !== undefined && api !== 'ai') return 'other_api'
    if (denied !== null || allowed !== null) {
      if (address === null) return 'address_unknown'
      if (denied?.has(address) || allowed?.has(address) === false) return 'address_denied'
    }
    if (now >= compiled.reportFrom) this.#reportUse(compiled)
    return token
  }

  #reportUse(compiled: CompiledToken): void {
    const { used } = this.#options
    if (used === undefined) return
    compiled.reportFrom = compiled.token.actor === undefined ? used(compiled.token) : Infinity
  }
}

function opens({ apis, resources }: Actor, what: Opened): boolean {
  return what === 'route' ? resources !== undefined : apis.includes(what)
}

function reachOf(token: Token | null, people: PeopleOfTokens | null): MaybeAtOnce<Token | null> {
  const { person } = token ?? {}
  if (token === null || person === undefined) return token
  return people === null ? null : people.reach({ ...token, person })
}

function show(last: LastToken, value: string, digest: string, form: TokenForm): void {
  last.value = digest === last.digest ? ownText(value) : null
  last.digest = digest
  last.form = form
}

const markOfForm = 3
const accessMark = 0x6f

function rememberedOf(
  { store, grace, announce, borrow, clock = systemClock }: VerifierOptions,
  form: TokenForm,
  source: TokenSource,
): ReadThrough<CompiledToken> {
  return new ReadThrough<CompiledToken>({
    load: digest => {
      const token = source.find(digest)
      return token instanceof Promise ? token.then(one => one && compile(one)) : token && compile(token)
    },
    changes: store.changes,
    kinds: source.kinds,
    concerns: (change, { token }) => source.concerns(change, token),
    endedBy: change => source.endedBy(change),
    groupOf: source.groupOf && (({ token }) => source.groupOf!(token)),
    size,
    missLife,
    grace,
    onLoad: announce && (digest => announce(form, digest)),
    borrow:
      borrow &&
      (async digest => {
        const loan = await borrow(form, digest)
        return loan && compileLent(loan)
      }),
    now: () => clock.monotonic(),
  })
}

function compileLent({ value, age }: Lent<Token>): Lent<CompiledToken> {
  return { value: compile(value), age }
}

function compile(token: Token): CompiledToken {
  const { digest, addressesIn, addressesNotIn } = token
  return {
    token,
    digest: Buffer.from(digest, 'latin1'),
    allowed: addressesIn.length > 0 ? new AddressSet(addressesIn) : null,
    denied: addressesNotIn.length > 0 ? new AddressSet(addressesNotIn) : null,
    reportFrom: 0,
  }
}

const presented = Buffer.alloc(64)

/** Compares in constant time, so that timing reveals nothing about the digests in the store. */
function matches(stored: Buffer, digest: string): boolean {
  presented.write(digest, 'latin1')
  return stored.length === presented.length && timingSafeEqual(stored, presented)
}
