// Mutations of how people sign in, and of what they set and are handed.

import type { Mutated } from './mutation.ts'

export const people: readonly Mutated[] = [
  {
    file: 'people/passwords/passwords.ts',
    tests: ['people/passwords/passwords'],
    changes: [
      {
        text: 'const matches = isSame && isPossible && digest !== null',
        becomes: 'const matches = isSame || digest === null',
        breaks: 'anything is the password of a user without one',
      },
      {
        text: "const isSame = await hasDigest(isPossible ? text : '', digest ?? this.#nobody)",
        becomes: "const isSame = digest !== null && (await hasDigest(isPossible ? text : '', digest))",
        breaks: 'time tells who is a user',
        tests: ['people/sign-in'],
      },
      {
        text: 'if (this.#queue.length >= this.#mostQueued) return null',
        becomes: 'if (false) return null',
        breaks: 'a flood of passwords waits without an end',
      },
    ],
  },
  {
    file: 'people/passwords/password-rules.ts',
    tests: ['people/passwords/password-rules'],
    changes: [
      { text: "if (isCommon(folded)) return 'common'", becomes: '', breaks: 'password1234 is taken' },
      { text: "return 'too_short'", becomes: 'return null', breaks: 'a password of one character is taken' },
    ],
  },
  {
    file: 'people/second-factor/totp.ts',
    tests: ['people/totp'],
    changes: [
      { text: 'if (isSame && step > lastStep)', becomes: 'if (isSame)', breaks: 'a code works twice' },
      { text: 'const drift = 1', becomes: 'const drift = 20', breaks: 'a code works for 20 minutes' },
    ],
  },
  {
    file: 'people/second-factor/second-factor.ts',
    tests: ['people/second-factor'],
    changes: [
      {
        text: 'totp.recoveryCodes.filter(left => left !== digest)',
        becomes: 'totp.recoveryCodes',
        breaks: 'a recovery code works for ever',
      },
      {
        text: 'return enforceTwoFactor === true && !hasSecondFactor(user)',
        becomes: 'return false',
        breaks: 'an account that requires a second factor lets in who has none',
        tests: ['people/own-account'],
      },
    ],
  },
  {
    file: 'people/sign-in/throttle.ts',
    tests: ['people/throttle'],
    changes: [
      {
        text: 'if (second.granted === 0) {',
        becomes: 'if (false) {',
        breaks: 'the password of one user is guessed from everywhere',
      },
      {
        text: 'if (first.granted === 0) return',
        becomes: 'if (false) return',
        breaks: 'one address tries a password on every user',
      },
    ],
  },
  {
    file: 'people/sessions/sessions.ts',
    tests: ['people/sessions'],
    changes: [
      {
        text: 'authenticatedAt === null || now',
        becomes: 'authenticatedAt !== null && now',
        breaks: 'people of whom nobody knows when they proved who they are do what is dangerous',
        tests: ['people/own-account'],
      },
      {
        text: "await this.#store.credentials.put(credentialOf(used), 'present')",
        becomes: 'await this.#store.credentials.put(credentialOf(used))',
        breaks: 'a session that was ended comes back with its next use',
      },
      {
        text: 'passwordSetAt === user.passwordChangedAt && ',
        becomes: '',
        breaks: 'a stolen session lives on after the password was changed',
      },
      {
        text: '(factor === null || factor === shown)',
        becomes: 'true',
        breaks: 'a stolen session lives on after a second factor was turned on',
      },
      {
        text: 'Math.min(createdAt + longest, usedAt + idle)',
        becomes: 'usedAt + idle',
        breaks: 'a session that is used never ends',
      },
      {
        text: 'return kept?.user === user && ',
        becomes: 'return ',
        breaks: 'a user ends the sessions of others',
      },
      {
        text: 'kept.slice(most)',
        becomes: 'kept.slice(most + 20)',
        breaks: 'one user fills the store with sessions',
      },
    ],
  },
  {
    file: 'people/sign-in/sign-in.ts',
    tests: ['people/sign-in'],
    changes: [
      {
        text: 'if (!verdict.matches || kept === null) return tell.wrong()',
        becomes: "if (kept === null) return { outcome: 'refused' }",
        breaks: 'any password signs in',
      },
      {
        text: 'if (!hasSecondFactor(user)) {',
        becomes: 'if (true) {',
        breaks: 'nobody is asked for a code',
      },
      {
        text: 'if (!consumed?.isFirst || isOutlived(holder, user))',
        becomes: 'if (isOutlived(holder, user))',
        breaks: 'one ticket signs in many times',
      },
      {
        text: '{ ...firstProofOf(holder), secondFactor: true }',
        becomes: '{ ...firstProofOf(holder), at, secondFactor: true }',
        breaks: 'the code of an app makes an old sign-in at the provider fresh',
        tests: ['people/openid/openid-sign-in'],
      },
      {
        text: 'await this.#tell(user, visit, proof.method)\n      return',
        becomes: 'return',
        breaks: 'nobody learns who signed in',
        tests: ['people/attempt-log'],
      },
      {
        text: 'if (user === null) return tell.wrong()',
        becomes: "if (user === null) return { outcome: 'refused' }",
        breaks: 'nobody learns that somebody who knows the password guesses at the code',
        tests: ['people/attempt-log'],
      },
    ],
  },
  {
    file: 'people/sign-in/attempt-log.ts',
    tests: ['people/attempt-log'],
    changes: [
      {
        text: 'this.#writing !== null || this.#waiting',
        becomes: 'this.#waiting',
        breaks: 'a flood of failed sign-ins fills the memory while the store is slow',
      },
      {
        text: ', caller: strangerAt(user) }',
        becomes: ' }',
        breaks: 'who guesses at a user acts in their name, and pushes out what they did',
      },
      {
        text: "if (failure === 'throttled' && !(await throttle.isFirstToTell(user.id))) return",
        becomes: '',
        breaks: 'who guesses on fills the audit log',
      },
      {
        text: 'if (this.#waiting.length >= most) this.#dropped++',
        becomes: 'if (false) this.#dropped++',
        breaks: 'a flood of sign-ins fills the memory',
      },
      {
        text: 'if (email.length > longestEmail) return',
        becomes: '',
        breaks: 'what is no address fills the memory',
      },
    ],
  },
  {
    file: 'people/records/self-audit.ts',
    tests: ['people/attempt-log'],
    changes: [
      {
        text: "status === 'accepted' && account",
        becomes: 'account',
        breaks: 'whoever invites a person sees where they sign in from',
      },
    ],
  },
  {
    file: 'people/records/email.ts',
    tests: ['people/email'],
    changes: [
      {
        text: 'text.replace(/[A-Z]+/g, letters => letters.toLowerCase())',
        becomes: 'text.toLowerCase()',
        breaks: 'the owner of an address signs in as somebody else',
      },
    ],
  },
  {
    file: 'people/links/invitations.ts',
    tests: ['people/links/invitations', 'people/links/recovery', 'sign-in/account'],
    changes: [
      {
        text: 'return kept !== null && isEmailVerified(kept.record) ? all : accepted',
        becomes: 'return all',
        breaks: 'whoever signed up with an address first sees the invitations of others, and accepts them',
      },
      {
        text: '(recovers || user.passwordChangedAt === null)',
        becomes: 'true',
        breaks: 'whoever invites a user who is being recovered becomes that user',
      },
      {
        text: "if (isKnown) return { outcome: 'known' }",
        becomes: '',
        breaks: 'an invitation sets the password of a user who has one',
      },
      {
        text: "if (invitation.user.id !== id) return { outcome: 'other_user' }",
        becomes: '',
        breaks: 'somebody accepts for another',
      },
      {
        text: 'return consumed?.isFirst === true',
        becomes: 'return consumed !== null',
        breaks: 'a link is accepted twice',
      },
    ],
  },
  {
    file: 'people/links/set-up.ts',
    tests: ['people/links/set-up'],
    changes: [
      {
        text: "return link?.purpose === 'set_up' ?",
        becomes: 'return link ?',
        breaks: 'an invitation makes a super administrator',
      },
      {
        text: "if (!consumed?.isFirst) return { outcome: 'gone' }",
        becomes: '',
        breaks: 'one link makes many super administrators',
      },
    ],
  },
  {
    file: 'store/records/people.ts',
    tests: ['people/links/invitations'],
    changes: [
      {
        text: 'return emailVerifiedAt === undefined ? identity !== null : emailVerifiedAt !== null',
        becomes: 'return identity !== null',
        breaks: 'an address that the provider vouches for no more is that of the user for ever',
      },
      {
        text: 'return emailVerifiedAt === undefined ? identity !== null : emailVerifiedAt !== null',
        becomes: 'return emailVerifiedAt !== null',
        breaks: 'addresses of older records are proved by nobody',
      },
    ],
  },
  {
    file: 'people/openid/openid-sign-in.ts',
    tests: ['people/openid/openid-sign-in'],
    changes: [
      {
        text: 'const isVerified = verified === user.email',
        becomes: 'const isVerified = verified !== null',
        breaks: 'another address at the provider proves the one here',
      },
      {
        text: 'if (present !== null && present.email === email)',
        becomes: 'if (present !== null)',
        breaks: 'a second user of a person at the provider opens the one who is signed in',
      },
      {
        text: 'if (invited !== null && !invited.isKnown)',
        becomes: 'if (invited !== null)',
        breaks: 'the link of an invitation opens a user who has come in already',
      },
      {
        text: 'if (owner.identity !== null) {',
        becomes: 'if (false) {',
        breaks: 'another person at the provider takes a user over',
      },
      {
        text: "attempt?.step !== 'openid' || !isSame(attempt.browser, digestOfValue(browser))",
        becomes: "attempt?.step !== 'openid'",
        breaks: 'a link to the provider signs another browser in',
      },
      {
        text: "if (!this.#own.isOpen) return 'not_invited'",
        becomes: '',
        breaks: 'everybody whom the provider knows is let in',
      },
      {
        text: 'return isSamePerson ? linked :',
        becomes: 'return true ? linked :',
        breaks: 'who signed up with the address of another shares their user',
      },
      {
        text: 'const isSamePerson = isInvited || owner.id === present?.id',
        becomes: 'const isSamePerson = isInvited || owner.id === present?.id || members.length > 0',
        breaks: 'who used an invitation to the address of another shares their user',
      },
      {
        text: 'if (!isFresh) return authenticatedAt && Math.min(authenticatedAt, now)',
        becomes: 'if (!isFresh) return now',
        breaks: 'a sign-in that the provider has had for hours counts as fresh',
      },
      {
        text: 'authenticatedAt === null || authenticatedAt < begunAt - clockSkew',
        becomes: 'authenticatedAt !== null && authenticatedAt < begunAt - clockSkew',
        breaks: 'a provider that does not say when people signed in proves that they just did',
      },
    ],
  },
  {
    file: 'people/openid/openid-provider.ts',
    tests: ['people/openid/openid-sign-in'],
    changes: [
      {
        text: 'directory === null && isVerified ? email : null',
        becomes: 'directory === null ? email : null',
        breaks: 'an address that nobody verified opens the user who has it',
      },
      {
        text: 'directory === null && isVerified ? email : null',
        becomes: 'isVerified ? email : null',
        breaks: 'the administrator of a directory opens the user with any address',
      },
      {
        text: 'if (tenants !== null) return tenant !== null && tenants.includes(tenant)',
        becomes: 'if (tenants !== null) return true',
        breaks: 'people of every tenant come in',
      },
      {
        text: 'return issuer.includes(tid) ? { tenant: tid, subject: `${tid}/${oid}` } : null',
        becomes: 'return { tenant: tid, subject: `${tid}/${oid}` }',
        breaks: 'an ID token chooses the tenant that it counts for',
      },
      {
        text: 'code_challenge: await calculatePKCECodeChallenge(verifier),',
        becomes: "code_challenge: await calculatePKCECodeChallenge('x'.repeat(43)),",
        breaks: 'the verifier is that of nobody',
      },
      {
        text: 'if (azp !== undefined && azp !== this.#settings.clientId)',
        becomes: 'if (false)',
        breaks: 'an ID token that another client asked for signs people in',
      },
      {
        text: 'if (Math.max(iat, at ?? 0) * 1_000 > Date.now() + clockSkew)',
        becomes: 'if (false)',
        breaks: 'a sign-in of the future stays fresh',
      },
    ],
  },
]
