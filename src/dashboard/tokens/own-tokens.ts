// A person's own tokens, to run models in the account as themselves.

import { type Html, html } from '../../base/text/html.ts'
import { facts, form, isolated } from '../../pages/parts/components.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { textField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { badge, emptyState, pager, table } from '../parts/lists.ts'
import { codeBlock, shownOnce, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { ownBudgets } from './budgets.ts'
import { endOf } from './token-form.ts'
import type { Token } from './token.ts'

const tokens = apiPath('user', 'tokens')

export const showOwnTokens: Handler = async request => {
  const response = await request.api.get<readonly Token[]>(tokens, {
    page: request.query.get('page'),
    account_id: request.account.id,
  })
  const budgets = new Map<string, Html | null>()
  for (const token of response.result) budgets.set(token.id, await ownBudgets(request, token))
  const account = request.account.id
  const create = html`<a class="button" href="${paths.newOwnToken(account)}">Create a token</a>`
  if (response.info!.total_count === 0)
    return { title, content: emptyState('You have no tokens here yet', whatFor, create) }
  const columns = [
    { title: 'Name', isName: true, cell: ({ name }: Token) => isolated(name) },
    {
      title: 'State',
      cell: ({ status }: Token) =>
        badge(status, status === 'active' ? 'good' : status === 'expired' ? 'bad' : ''),
    },
    { title: 'Last used', cell: ({ last_used_on }: Token) => time(last_used_on) },
    { title: 'Expires', cell: ({ expires_on }: Token) => time(expires_on) },
    { title: 'Created', cell: ({ issued_on }: Token) => time(issued_on) },
    ...(Array.from(budgets.values()).some(bars => bars !== null)
      ? [{ title: 'Budgets', cell: ({ id }: Token) => budgets.get(id) ?? null }]
      : []),
    {
      title: 'End it',
      cell: ({ id, name }: Token) =>
        form(
          request.frameFor(paths.revokeOwnToken(account, id)),
          html`<button class="danger small">Revoke<span class="unseen"> ${isolated(name)}</span></button>`,
        ),
    },
  ]
  return {
    title,
    isWide: true,
    actions: create,
    content: html`<p class="lead">${whatFor}</p>${table('Your tokens in this account', columns, response.result)}${pager(paths.ownTokens(account), request.query, response.info!)}`,
  }
}

const title = 'Your tokens'
const whatFor =
  'Programs of yours call models with them, as you: they allow nothing else, and end when you leave the account. Administrators see them, but never their values.'

export const showNewOwnToken: Handler = async request => newToken(request, new Draft())

export const createOwnToken: Handler = async request => {
  const draft = Draft.of(request.form)
  const day = draft.value('expires_on')
  const body = {
    name: draft.value('name'),
    policies: [
      {
        effect: 'allow',
        permission_groups: [{ name: 'AI Gateway Run' }],
        resources: { [`svc.api.account.${request.account.id}`]: '*' },
      },
    ],
    ...(day !== '' && { expires_on: endOf(day) }),
  }
  const outcome = await request.api.post<Token & { readonly value: string }>(tokens, body, {
    idempotencyKey: draft.key,
  })
  return outcome.ok ? valueView(request, outcome.result) : newToken(request, draft.refused(outcome))
}

export const revokeOwnToken: Handler = async request => {
  const revoked = await request.api.delete(tokens + apiPath(request.params.token!))
  return revoked.ok ? redirectWith(paths.ownTokens(request.account.id), 'own-token-revoked') : revoked
}

const labels = { name: 'Name', expires_on: 'Last day' }

function newToken(request: PageRequest, draft: Draft): View {
  return {
    title: 'Create a token of your own',
    crumbs: crumbsOf(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        isOnce: true,
        send: 'Create the token',
        cancel: paths.ownTokens(request.account.id),
      },
      html`${textField(draft, {
        name: 'name',
        label: labels.name,
        hint: 'What uses it, and where: “editor on my laptop”.',
        maxLength: 120,
        hasFocus: true,
      })}${textField(draft, {
        name: 'expires_on',
        label: labels.expires_on,
        type: 'date',
        hint: 'It expires when this day ends, UTC. Without one it ends with your membership.',
        isOptional: true,
      })}`,
    ),
  }
}

function valueView(request: PageRequest, token: Token & { readonly value: string }): View {
  return {
    title: 'Token created',
    crumbs: crumbsOf(request),
    content: html`${shownOnce('Value', token.value, 'Save the value now.')}<div class="card">${facts([
      ['Name', isolated(token.name)],
      ['Allows', 'AI Gateway Run, as you'],
      ['Expires', time(token.expires_on)],
    ])}</div>${tryCard(request)}
<p class="aside"><a class="button" href="${paths.ownTokens(request.account.id)}">I have saved it</a></p>`,
  }
}

/** Shows a call to try it with; the value stays out of it, since shells record commands. */
function tryCard({ gatewayEndpoint: entrance, account }: PageRequest): Html | null {
  if (entrance === null) return null
  const { origin, provider } = entrance
  const model = `${provider.name}/${provider.model}`
  const code = `curl ${origin}/client/v4/accounts/${account.id}/ai/v1/chat/completions \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Say hello."}]}'`
  return html`<section class="card" aria-labelledby="try"><h2 id="try">Try it</h2>${codeBlock('With the value in TOKEN', code)}</section>`
}

function crumbsOf({ account }: PageRequest) {
  return [{ title, path: paths.ownTokens(account.id) }]
}
