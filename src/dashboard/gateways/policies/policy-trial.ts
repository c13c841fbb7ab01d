// What the policies of a gateway would decide about a call that is not made, and why.

import { type Html, html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { budgetBar } from '../../budgets/bars.ts'
import { apiPath } from '../../page/api-client.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { Draft } from '../../parts/draft.ts'
import { areaField, selectField, textField } from '../../parts/fields.ts'
import { draftForm } from '../../parts/forms.ts'
import { badge, table } from '../../parts/lists.ts'
import { findGateway } from '../page-data.ts'
import { crumbsOfPolicies, policiesOf, policiesPath } from './policy-data.ts'

interface Decision {
  readonly decision: 'allow' | 'block' | 'no_match'
  readonly policy: { readonly id: string; readonly name: string } | null
  readonly limits: readonly Limit[]
  readonly trace: readonly Trace[]
}

interface Limit {
  readonly policy: { readonly name: string }
  readonly budget_id: string
  readonly identity: string | null
  readonly amount: number
  readonly spent: number
  readonly leased: number
  readonly remaining: number
  readonly resets_at: string | null
}

interface Trace {
  readonly id: string
  readonly name: string
  readonly applies: boolean
  readonly decided_by: 'actor' | 'resource' | 'condition' | null
  readonly unknown: boolean
}

const labels = {
  model: 'Model',
  user: 'User',
  app: 'App',
  token: 'API token',
  metadata: 'Metadata',
  state: 'By which policies',
} as const

export const showTrial: Handler = async request => {
  await findGateway(request)
  return trialView(request, new Draft({ state: 'draft' }), null)
}

export const tryCall: Handler = async request => {
  const draft = Draft.of(request.form)
  const decided = await request.api.post<Decision>(
    policiesOf(request, 'simulate'),
    callIn(draft, await idOf(request, draft)),
  )
  if (decided.ok) return trialView(request, draft, decided.result)
  if (decided.status === 404) return decided
  const renamed = { '/provider': 'model', '/identity/email': 'user' } as const
  return trialView(request, draft.refused(decided, { ...renamed, '/identity/user': 'user' }), null)
}

/** Finds the member with the e-mail address of the form; null if there is none, or none may be seen. */
async function idOf({ api, account, may }: PageRequest, draft: Draft): Promise<string | null> {
  const email = draft.value('user').trim().toLowerCase()
  if (!email.includes('@') || !may('Members Read')) return null
  const members = apiPath('accounts', account.id, 'members')
  const { result } = await api.get<readonly Member[]>(members, { search: email })
  return result.find(member => member.email.toLowerCase() === email)?.user.id ?? null
}

interface Member {
  readonly email: string
  readonly user: { readonly id: string }
}

function callIn(draft: Draft, id: string | null) {
  const value = (name: keyof typeof labels) => draft.value(name).trim() || null
  const user = value('user')
  const isEmail = user?.includes('@') === true
  const metadata = draft
    .value('metadata')
    .split('\n')
    .map(line => ({ line, at: line.indexOf('=') }))
    .flatMap(({ line, at }) =>
      at === -1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const],
    )
  return {
    identity: {
      ...(isEmail ? { email: user, user: id } : { user }),
      app: value('app'),
      token: value('token'),
    },
    model: value('model'),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
    state: draft.value('state'),
  }
}

function trialView(request: PageRequest, draft: Draft, decision: Decision | null): View {
  return {
    title: 'Try a call',
    crumbs: crumbsOfPolicies(request),
    status: draft.status,
    content: html`<p class="lead">Says what policies would decide about a call. None is made.</p>${decision !== null && decisionPart(decision)}${draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        send: 'Decide',
        cancel: policiesPath(request),
      },
      html`${textField(draft, {
        name: 'model',
        label: labels.model,
        placeholder: 'PROVIDER/MODEL',
        maxLength: 512,
        hasFocus: decision === null,
      })}<div class="pair">${textField(draft, {
        name: 'user',
        label: labels.user,
        hint: 'By the e-mail address of a member, or by id.',
        maxLength: 256,
        isOptional: true,
      })}${textField(draft, { name: 'app', label: labels.app, hint: 'By id.', maxLength: 256, isOptional: true })}${textField(
        draft,
        { name: 'token', label: labels.token, hint: 'By id.', maxLength: 256, isOptional: true },
      )}</div>${areaField(draft, {
        name: 'metadata',
        label: labels.metadata,
        hint: 'One on a line: team=search.',
        rows: 2,
        isOptional: true,
        isCode: true,
      })}${selectField(draft, {
        name: 'state',
        label: labels.state,
        options: [
          { value: 'draft', label: 'As if the draft were committed' },
          { value: 'committed', label: 'Those in effect' },
        ],
      })}`,
    )}`,
  }
}

function decisionPart({ decision, policy, limits, trace }: Decision): Html {
  const by = policy !== null && html` by <b>${isolated(policy.name)}</b>`
  const words =
    decision === 'allow'
      ? html`The call is allowed${by}${trace.length === 0 && ': there are no policies'}.`
      : decision === 'block'
        ? html`The call is blocked${by}.`
        : 'The call is refused: no policy allows it.'
  return html`<div class="notice ${decision === 'allow' ? 'good' : 'bad'}" role="status"><p>${words}</p></div>${limits.length > 0 && limitsCard(limits)}${
    trace.length > 0 &&
    html`<h2 class="over">Why</h2>${table('Each policy, and whether it applies', traceColumns, trace)}`
  }`
}

function limitsCard(limits: readonly Limit[]): Html {
  return html`<section class="card" aria-labelledby="limits"><h2 id="limits">It counts in</h2><ul class="rows">${limits.map(
    ({ policy, identity, amount, ...sums }) => {
      const title = identity === null ? policy.name : `${policy.name}, ${identity}`
      const bucket = { ...sums, id: sums.budget_id, key: [], limit: amount }
      return html`<li><div><h3 class="long">${isolated(title)}</h3>${budgetBar({ limitType: 'cost' }, bucket, title)}</div></li>`
    },
  )}</ul></section>`
}

const parts = {
  actor: 'of somebody else',
  resource: 'to something else',
  condition: 'the condition does not hold',
} as const

const traceColumns = [
  {
    title: 'Policy',
    isName: true,
    cell: ({ name }: Trace) => html`<span class="long">${isolated(name)}</span>`,
  },
  { title: 'Applies', cell: ({ applies }: Trace) => (applies ? badge('yes', 'good') : badge('no')) },
  {
    title: 'Because',
    cell: ({ decided_by: part, unknown }: Trace) =>
      part === null ? 'all of it matches' : unknown ? `its ${part} cannot be known of the call` : parts[part],
  },
]
