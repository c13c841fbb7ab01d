// Mutations of tokens, OAuth clients, their secrets and the domains that prove them.

import type { Mutated } from './mutation.ts'

export const credentials: readonly Mutated[] = [
  {
    file: 'tokens/verify.ts',
    tests: ['tokens/verify'],
    changes: [
      {
        text: 'value: string | null = null',
        becomes: "value = ''",
        breaks: 'what is no token has the store asked',
      },
      {
        text: 'if (value === shown?.value) return',
        becomes: 'if (shown?.value) return',
        breaks: 'whoever shares a connection has the token of the first',
      },
      {
        text: "if (!isFamiliar && this.#isMadeUp(value)) return 'unknown'",
        becomes: '',
        breaks: 'made-up tokens ask the store',
      },
      {
        text: 'return untried !== null && this.#isMadeUp(untried)',
        becomes: 'return false',
        breaks: 'made-up tokens that end as a good one ask the store',
      },
      {
        text: "if (token.status === 'disabled') return 'disabled'",
        becomes: '',
        breaks: 'a disabled token works',
      },
      {
        text: "if (token.expiresOn !== null && now >= token.expiresOn) return 'expired'",
        becomes: '',
        breaks: 'a token never expires',
      },
      {
        text: "if (token.actor !== undefined && !token.actor.apis.includes(api)) return 'other_api'",
        becomes: '',
        breaks: 'a token for one API opens the other',
        tests: ['oauth-grants/access'],
      },
      {
        text: 'now < token.notBefore',
        becomes: 'false',
        breaks: 'a token works before its time',
      },
      {
        text: 'denied?.has(address) || allowed?.has(address) === false',
        becomes: 'denied?.has(address)',
        breaks: 'a token works from everywhere',
      },
      {
        text: 'denied?.has(address) || allowed?.has(address) === false',
        becomes: 'allowed?.has(address) === false',
        breaks: 'a token works from where it must not',
      },
      {
        text: "if (address === null) return 'address_unknown'",
        becomes: 'if (address === null) return token',
        breaks: 'an address that nobody knows is any',
      },
      {
        text: "if (known === null || (known !== shown?.known && !matches(known.digest, digest))) return 'unknown'",
        becomes: "if (known === null) return 'unknown'",
        breaks: 'a store that finds too much lets in',
        tests: ['tokens/verify'],
      },
      {
        text: "if (error instanceof StoreUnreachable) return 'store_away'",
        becomes: "if (error instanceof StoreUnreachable) return 'unknown'",
        breaks: 'a store that is away is told as a bad token',
        tests: ['tokens/verify-store', 'tokens/verify'],
      },
    ],
  },
  {
    file: 'oauth-grants/access.ts',
    tests: ['oauth-grants/access'],
    changes: [
      {
        text: "if (grant.account !== everybody && member?.status !== 'accepted') return null",
        becomes: '',
        breaks: 'an app acts for who has left the account',
      },
      {
        text: "if (isPrivate && insider?.status !== 'accepted') return null",
        becomes: '',
        breaks: 'a private app acts for who has left its account',
      },
      {
        text: 'client.scopes.includes(one) && scope.includes(one)',
        becomes: 'scope.includes(one)',
        breaks: 'an app keeps a scope that it was deprived of',
      },
      {
        text: 'client.scopes.includes(one) && scope.includes(one)',
        becomes: 'client.scopes.includes(one)',
        breaks: 'a token reaches further than it was asked for',
      },
      {
        text: '.filter(group => held.has(group))',
        becomes: '',
        breaks: 'an app may do more than the person for whom it acts',
      },
      {
        text: 'if (credential.client !== client.id || credential.user !== user.id) return null',
        becomes: '',
        breaks: 'a token acts by the consent for another app',
      },
      {
        text: 'return id === grant || id === client || id === user || members.includes(id)',
        becomes: 'return id === grant || id === client || id === user',
        breaks: 'a token outlives the membership of its user',
      },
      {
        text: 'const apis = apisOf(resources ?? [], apiOf).filter(api => consented.includes(api))',
        becomes: 'const apis = consented',
        breaks: 'a token for one API opens the others',
      },
      {
        text: '.filter(api => consented.includes(api))',
        becomes: '',
        breaks: 'a token opens an API that the consent was not for',
      },
    ],
  },
  {
    file: 'oauth-grants/resource.ts',
    tests: ['oauth-grants/resource'],
    changes: [
      {
        text: 'return a.hostname === b.hostname ||',
        becomes: 'return true ||',
        breaks: 'a stranger gets tokens for the management API as for their own',
      },
      {
        text: 'if (a.protocol !== b.protocol || a.port !== b.port) return false',
        becomes: '',
        breaks: 'another server on the host gets tokens for the management API',
      },
    ],
  },
  {
    file: 'permissions/permit.ts',
    tests: ['permissions/permit'],
    changes: [
      {
        text: "if (policy.effect === 'deny') return false",
        becomes: '',
        breaks: 'a policy that denies means nothing',
      },
      {
        text: "if (!accounts.includes(account) && !accounts.includes('*')) return false",
        becomes: '',
        breaks: 'a policy holds for every account',
      },
      {
        text: 'if (permissionGroups.includes(group)) return true\n  return false',
        becomes: 'if (permissionGroups.includes(group)) return true\n  return true',
        breaks: 'a policy gives every permission',
      },
    ],
  },
  {
    file: 'tokens/token.ts',
    tests: ['tokens/token'],
    changes: [
      {
        text: 'if (sextetOf[bytes[i]!] !== sextet) return false',
        becomes: '',
        breaks: 'a typo in a token asks the store',
      },
    ],
  },
  {
    file: 'tokens/tagger.ts',
    tests: ['tokens/tagger'],
    changes: [
      {
        text: 'return timingSafeEqual(this.#right, this.#shown)',
        becomes: 'return true',
        breaks: 'every made-up token asks the store',
      },
    ],
  },
  {
    file: 'tokens/token-tags.ts',
    tests: ['tokens/token-tags'],
    changes: [
      {
        text: 'if (isTagged(value) && tagger.verifies(value)) return true',
        becomes: 'if (isTagged(value)) return true',
        breaks: 'made-up tokens with a tag ask the store',
      },
      {
        text: 'return untagged.size > 0 && untagged.has(digestOf(value).slice(0, told))',
        becomes: 'return untagged.size > 0',
        breaks: 'one token from before the key lets all without a tag ask the store',
      },
      {
        text: "if (kind !== 'token_key' && kind !== 'everything') return",
        becomes: '',
        breaks: 'every change of a record reads the key again',
      },
    ],
  },
  {
    file: 'tokens/bearer.ts',
    tests: ['tokens/bearer'],
    changes: [
      {
        text: 'return token !== null && isToken68(token) ? token : null',
        becomes: 'return token',
        breaks: 'a token with a comma is two to another reader',
      },
    ],
  },
  {
    file: 'tokens/misplaced-tokens.ts',
    tests: ['tokens/misplaced-tokens'],
    changes: [
      {
        text: 'suspiciousOfBasic.test(value) && basicHoldsOurs(value)',
        becomes: 'false',
        breaks: 'a token as a password of Basic is sent on',
      },
      {
        text: '(?:%(?:25)*(?:u00)?',
        becomes: '(?:%(?:u00)?',
        breaks: 'a token that is encoded twice is sent on',
      },
      {
        text: "|\\\\\\\\{1,8}u00)'",
        becomes: ")'",
        breaks: 'a token that JSON spells otherwise is sent on',
      },
      {
        text: '(?!${words})',
        becomes: '',
        breaks: 'a visitor is refused for the name of a page',
      },
      {
        text: 'fewest = 32',
        becomes: 'fewest = 43',
        breaks: 'a secret that lacks so little that it can be guessed is sent on',
      },
      {
        text: "if (holdsOurs(name)) return 'the name of a header'",
        becomes: '',
        breaks: 'a token as the name of a field is sent on',
        tests: ['wire/ai-misplaced', 'wire/credentials'],
      },
      {
        text: 'mayBear ? hasMisplacedToken(value) : valueHoldsOurs(value)',
        becomes: '!mayBear && valueHoldsOurs(value)',
        breaks: 'a token as the password of Basic is sent on',
        tests: ['wire/ai-misplaced'],
      },
      {
        text: 'if (++count > mostBasic) return true',
        becomes: 'if (++count > mostBasic) return false',
        breaks: 'a token behind many Basic credentials is sent on',
      },
    ],
  },
  {
    file: 'oauth-clients/uri.ts',
    tests: ['oauth-clients/uri'],
    changes: [
      {
        text: "if (text.includes('#')) return 'must not have a fragment (#)'",
        becomes: '',
        breaks: 'a redirect URI has a fragment that hides the code',
      },
      {
        text: "return labelFault(hostname, 'host')",
        becomes: 'return null',
        breaks: 'a redirect URI has a host with empty labels',
      },
      {
        text: "if (text.includes('*')) return 'must not contain a wildcard (*)'",
        becomes: '',
        breaks: 'a redirect URI with a wildcard is taken',
      },
      {
        text: "if (protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))) return null",
        becomes: "if (protocol === 'https:' || protocol === 'http:') return null",
        breaks: 'codes go over plain http',
      },
      {
        text: "return username === '' && password === '' ? null",
        becomes: 'return true ? null',
        breaks: 'a redirect URI has a user name that looks like a host',
      },
      {
        text: "'javascript:',",
        becomes: '',
        breaks: 'a redirect URI runs a script',
      },
      {
        text: "if (!protocol.includes('.')) return",
        becomes: "if (protocol === '') return",
        breaks: 'two apps have one scheme',
      },
    ],
  },
  {
    file: 'base/secrets/secret-keys.ts',
    tests: ['base/secrets/secret-keys'],
    changes: [
      {
        text: 'return isSame && keys !== undefined',
        becomes: 'return isSame',
        breaks: 'a secret of a key that was taken away works on',
        tests: ['base/secrets/secret-keys'],
      },
      {
        text: 'for (const { sealing } of this.#known) {',
        becomes: 'for (const { sealing } of [this.#current]) {',
        breaks: 'a new key makes unreadable what the old one sealed',
      },
      {
        text: 'if (key.length < least) throw',
        becomes: 'if (false) throw',
        breaks: 'a key of one byte is taken',
      },
    ],
  },
  {
    file: 'base/secrets/seal.ts',
    tests: ['base/secrets/seal'],
    changes: [
      {
        text: '.setAAD(Buffer.from(context))\n    .setAuthTag',
        becomes: '.setAuthTag',
        breaks: 'a sealed secret is put in place of another',
        tests: ['base/secrets/seal'],
      },
      {
        text: 'if (end < ivLength) return null',
        becomes: '',
        breaks: 'a text that is too short throws',
      },
    ],
  },
  {
    file: 'oauth-clients/secret.ts',
    tests: ['oauth-clients/secret'],
    changes: [
      {
        text: "if (client.secrets.length >= most) return 'two_secrets'",
        becomes: '',
        breaks: 'a rotation throws a secret away that is in use',
      },
      {
        text: 'return { ...client, secrets: [newest] }',
        becomes: 'return { ...client, secrets: older }',
        breaks: 'the new secret is dropped in place of the old one',
      },
      {
        text: "if (client.tokenEndpointAuthMethod === 'none') return 'no_secrets'",
        becomes: '',
        breaks: 'a public app has a secret',
      },
    ],
  },
  {
    file: 'activity/last-used.ts',
    tests: ['oauth-clients/secret-uses', 'tokens/token-uses'],
    changes: [
      {
        text: ' && this.#waiting.size < most',
        becomes: '',
        breaks: 'uses that wait for the store fill the memory',
      },
      {
        text: 'return !(failure instanceof StoreUnreachable)',
        becomes: 'return true',
        breaks: 'uses are lost while the store is away',
      },
      {
        text: '!this.#noted.has(key) && ',
        becomes: '',
        breaks: 'what is looked up again is written again',
      },
      {
        text: 'if (this.#waiting.get(key) === use) this',
        becomes: 'this',
        breaks: 'a use in the hour that began during a write is lost',
      },
    ],
  },
  {
    file: 'oauth-clients/secret-uses.ts',
    tests: ['oauth-clients/secret-uses'],
    changes: [
      {
        text: 'used.lastUsedAt !== null && used.lastUsedAt >= hour',
        becomes: 'false',
        breaks: 'every request writes the client anew',
      },
    ],
  },
  {
    file: 'oauth-clients/visibility.ts',
    tests: ['oauth-clients/visibility'],
    changes: [
      {
        text: 'if (provenHostOf(client) !== null) return null',
        becomes: 'return null',
        breaks: 'anybody publishes an app in the name of any host',
      },
    ],
  },
  {
    file: 'domains/domain-watch.ts',
    tests: ['domains/domain-watch'],
    changes: [
      {
        text: "if (this.#isClosed && answer.outcome !== 'found') return",
        becomes: '',
        breaks: 'a stop counts as a failed check of each domain under way',
      },
      {
        text: 'this.#isLookDue && !this.#isClosed && this.#running.size < mostAtOnce',
        becomes: 'this.#isLookDue && !this.#isClosed',
        breaks: 'DNS is asked for all domains at once',
      },
      {
        text: 'if (!counts(record.verification, asked, answer)) return',
        becomes: '',
        breaks: 'the proof of one host counts for another',
      },
      {
        text: 'if (this.#isFailing) return\n    this.#isFailing = true',
        becomes: 'this.#isFailing = true',
        breaks: 'the log has a line a second while the store is away',
      },
    ],
  },
  {
    file: 'domains/txt-lookup.ts',
    tests: ['domains/txt-lookup'],
    changes: [
      {
        text: 'question.query?.cancel()',
        becomes: '',
        breaks: 'a stop waits for DNS',
      },
      {
        text: 'if (this.#asked.size >= mostAtOnce) return',
        becomes: '',
        breaks: 'resolvers get questions in heaps, and drop them',
      },
      {
        text: "outcome: texts.includes(text) ? 'found' : 'no_match'",
        becomes: "outcome: texts.some(some => some.includes(text)) ? 'found' : 'no_match'",
        breaks: 'a record that only holds the proof counts',
      },
      {
        text: "if (outcome === 'no_records' || outcome === 'no_such_name') break",
        becomes: 'break',
        breaks: 'one resolver that fails is asked alone',
      },
    ],
  },
  {
    file: 'domains/txt-message.ts',
    tests: ['domains/txt-message', 'domains/txt-lookup'],
    changes: [
      {
        text: 'found.filter(([owner]) => reached.has(owner))',
        becomes: 'found',
        breaks: 'a record of any name proves a host',
      },
      {
        text: 'message.readUInt16BE(0) !== id) return null',
        becomes: 'false) return null',
        breaks: 'whoever guesses a port proves a host',
      },
      {
        text: 'reader.name() !== asked ||',
        becomes: 'reader.name() === null ||',
        breaks: 'the reply to another question proves a host',
      },
      {
        text: '|| target >= least) return null',
        becomes: ') return null',
        breaks: 'a name that leads to itself never ends',
      },
    ],
  },
  {
    file: 'domains/txt-query.ts',
    tests: ['domains/txt-lookup'],
    changes: [
      {
        text: 'if (reply === null || this.#isOver) return',
        becomes: "if (reply === null || this.#isOver) return this.#end('error')",
        breaks: 'garbage before the reply has the check fail',
      },
      {
        text: 'if (reply !== null) return this.#end(foundIn(reply))',
        becomes: "return this.#end(reply === null ? 'error' : foundIn(reply))",
        breaks: 'garbage before the reply has the check fail, by TCP',
      },
    ],
  },
  {
    file: 'domains/attempt.ts',
    tests: ['domains/attempt'],
    changes: [
      {
        text: 'if (kept.host !== asked.host || kept.code !== asked.code) return false',
        becomes: '',
        breaks: 'the proof of one host counts for another',
      },
      {
        text: "if (now >= deadline) return { status: 'failed'",
        becomes: "if (now > deadline + 1e12) return { status: 'failed'",
        breaks: 'a proof may come for ever',
      },
    ],
  },
  {
    file: 'oauth-clients/proven-host.ts',
    tests: ['oauth-clients/proven-host', 'sign-in/consent'],
    changes: [
      {
        text: "url?.protocol === 'https:' && isWithin(url.hostname, proven)",
        becomes: 'true',
        breaks: 'people go to another host than the one that they are told is verified',
      },
      {
        text: 'return clientUri !== null && verification',
        becomes: 'return verification',
        breaks: 'a publisher is shown as verified who names no home page any more',
      },
    ],
  },
  {
    file: 'oauth-clients/name-scripts.ts',
    tests: ['oauth-clients/name-scripts', 'sign-in/consent'],
    changes: [
      {
        text: 'return scripts.length < 2 || isUsual ? [] : scripts',
        becomes: 'return []',
        breaks: 'a name that imitates another one by letters of another script is not told apart',
      },
    ],
  },
  {
    file: 'domains/challenge.ts',
    tests: ['domains/challenge'],
    changes: [
      {
        text: "return kept.status === 'verified' ? 'host_frozen' :",
        becomes: "return false ? 'host_frozen' :",
        breaks: 'an app that is verified moves to another host',
      },
      {
        text: "return kept?.status === 'verified' ? kept : null",
        becomes: 'return null',
        breaks: 'an app that is verified moves to another host by way of none',
      },
    ],
  },
  {
    file: 'domains/host.ts',
    tests: ['domains/host'],
    changes: [
      {
        text: 'if (isAddress(host)) return',
        becomes: 'if (false) return',
        breaks: 'an address is a domain to prove',
      },
      {
        text: 'if (domain === null) return',
        becomes: 'if (false) return',
        breaks: 'whoever has com owns all of it',
      },
    ],
  },
]
