// Mutations of the pages: cookies, forms and what proves where they come from, and where people are sent.

import type { Mutated } from './mutation.ts'

export const pages: readonly Mutated[] = [
  {
    file: 'pages/forms/cookies.ts',
    tests: ['pages/cookies'],
    changes: [
      {
        text: 'found.has(name) || !isSecret(value!) ? null : value!',
        becomes: '!isSecret(value!) ? null : value!',
        breaks: 'a cookie that another site planted beside ours counts',
      },
      {
        text: 'return isSecure ? `__Host-${name}` : name',
        becomes: 'return name',
        breaks: 'a sibling of the host can set our cookies',
      },
      {
        text: 'Path=/; HttpOnly; SameSite=Lax',
        becomes: 'Path=/; SameSite=Lax',
        breaks: 'a script can read a session',
      },
      {
        text: "isSecure ? '; Secure' : ''",
        becomes: "''",
        breaks: 'a session goes over plain http',
      },
      {
        text: 'if (!isSecret(value)) throw',
        becomes: 'if (false) throw',
        breaks: 'a value can add attributes to its cookie',
      },
    ],
  },
  {
    file: 'pages/forms/form.ts',
    tests: ['pages/form'],
    changes: [
      {
        text: '|| form.has(name)) return null',
        becomes: ') return null',
        breaks: 'of two fields of a name the last counts',
      },
      {
        text: 'if (fields.length > mostFields) return null',
        becomes: '',
        breaks: 'a form has any number of fields',
      },
      {
        text: 'if (body.length > most) return null',
        becomes: '',
        breaks: 'a form has any size',
      },
    ],
  },
  {
    file: 'pages/forms/csrf.ts',
    tests: ['pages/form-proof'],
    changes: [
      {
        text: '.update(`form ${form}`)',
        becomes: ".update('form')",
        breaks: 'the token of one form is good for all',
      },
      {
        text: "site !== undefined && site !== 'same-origin'",
        becomes: "site === 'cross-site'",
        breaks: 'a sibling of the host sends our forms',
      },
      {
        text: 'return headers.origin === undefined || headers.origin === origin',
        becomes: 'return true',
        breaks: 'every site sends our forms',
      },
      {
        text: 'shown.length === expected.length && timingSafeEqual(shown, expected)',
        becomes: 'shown.length === expected.length',
        breaks: 'every token is right',
      },
    ],
  },
  {
    file: 'pages/parts/return-path.ts',
    tests: ['pages/next'],
    changes: [
      {
        text: 'url.pathname + url.search + url.hash === text',
        becomes: 'true',
        breaks: 'people are sent to another site after signing in',
      },
      {
        text: 'text.length > most',
        becomes: 'false',
        breaks: 'a path of any length is carried on',
      },
    ],
  },
  {
    file: 'pages/parts/layout.ts',
    tests: ['pages/layout'],
    changes: [
      {
        text: `ancestors: "'none'"`,
        becomes: `ancestors: "'self'"`,
        breaks: 'a page can be shown in a frame',
      },
      {
        text: "hasPictures ? 'data: https:' : 'data:'",
        becomes: "'data: https:'",
        breaks: 'every page loads pictures of other sites',
      },
      {
        text: "['cache-control', 'no-store'],",
        becomes: '',
        breaks: 'pages of a person stay in caches',
      },
      {
        text: '!/^https?:$/.test(scheme)',
        becomes: 'true',
        breaks: 'forms may lead to every site',
      },
    ],
  },
  {
    file: 'pages/forms/sent-form.ts',
    tests: ['sign-in/face'],
    changes: [
      {
        text: 'if (!isFromOwnPage(request.headers, origin)) return forged(link)',
        becomes: '',
        breaks: 'a form of another site counts if it knows the token',
      },
      {
        text: 'if (size > most) return null',
        becomes: '',
        breaks: 'a form of any size is read',
      },
      {
        text: 'if (body === null) request.resume()',
        becomes: '',
        breaks: 'after a form that is too large its connection takes no other request',
      },
      {
        text: 'if (boundary === null && !isForm(type)) return unreadable',
        becomes: '',
        breaks: 'a form that browsers send without asking first counts',
      },
    ],
  },
  {
    file: 'sign-in/face.ts',
    tests: ['sign-in/face'],
    changes: [
      {
        text: "const isStale = isForm && !isFormToken(form.get('form_token'), ask.secret, ask.path)",
        becomes: 'const isStale = false',
        breaks: 'a form counts without a token',
      },
      {
        text: 'return isForm ? writePage(forged(toAccount)) : redirectTo(origin + url.pathname + url.search)',
        becomes: 'return redirectTo(origin + url.pathname + url.search)',
        breaks: 'a form for another host is taken for one of ours',
      },
    ],
  },
  {
    file: 'sign-in/sign-in.ts',
    tests: ['sign-in/sign-in'],
    changes: [
      {
        text: 'if (ask.session !== null) await people.ownAccount.signOut(ask.session, ask.visit)',
        becomes: '',
        breaks: 'signing out takes the cookie alone',
      },
      {
        text: 'withPassword({ email, password }, ask.visit, ask.session)',
        becomes: 'withPassword({ email, password }, ask.visit, null)',
        breaks: 'the session before a sign-in lives on',
      },
      {
        text: 'if (ask.actor !== null && !isFresh) return',
        becomes: 'if (ask.actor !== null) return',
        breaks: 'who must sign in again is not asked to',
      },
    ],
  },
  {
    file: 'oauth-grants/walk.ts',
    tests: ['sign-in/account', 'admin/oauth-grants/grants'],
    changes: [
      {
        text: 'grants.find(grant => grant.id === id)',
        becomes: 'grants[0]',
        breaks: 'who ends one app ends another',
      },
    ],
  },
  {
    file: 'sign-in/consent.ts',
    tests: ['sign-in/consent'],
    changes: [
      {
        text: "if (decision === 'deny') return { kind: 'deny' }",
        becomes: '',
        breaks: 'who denies is asked again',
      },
      {
        text: 'isVerified: proven !== null',
        becomes: 'isVerified: true',
        breaks: 'every publisher is verified',
      },
      {
        text: 'optional: ticked.map(',
        becomes: 'optional: [...ask.form.keys()].map(',
        breaks: 'what is handed on as ticked is every field',
      },
    ],
  },
]
