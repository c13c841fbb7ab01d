// The pages of API tokens.

import { type Html, html } from '../../base/text/html.ts'
import { facts, type FormFrame, isolated } from '../../pages/parts/components.ts'
import type { ListInfo } from '../page/api-client.ts'
import type { View } from '../page/page-request.ts'
import type { Draft } from '../parts/draft.ts'
import { boxToTick, listField, textField } from '../parts/fields.ts'
import { confirmationPage, dangerZone, draftForm } from '../parts/forms.ts'
import { badge, emptyState, pager, table } from '../parts/lists.ts'
import { stepLink } from '../parts/next-step.ts'
import { isPicking, picker } from '../parts/picker.ts'
import { shownOnce, time, usedLately } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { addressesInWords, callsInWords, type PermissionGroup, policiesInWords, type Token } from './token.ts'

interface TokenList {
  readonly account: string
  readonly tokens: readonly Token[]
  readonly info: ListInfo
  readonly query: URLSearchParams
  readonly mayWrite: boolean
  readonly first: Html
}

export function listView({ account, tokens, info, query, mayWrite, first }: TokenList): View {
  const create = stepLink(paths.newToken(account), 'Create a token')
  if (info.total_count === 0)
    return {
      title: 'API tokens',
      content: emptyState(
        'No tokens yet',
        'Programs show a token to use the management API, or to call models through a gateway that asks for one.',
        first,
      ),
    }
  const columns = [
    {
      title: 'Name',
      isName: true,
      cell: ({ id, name, person }: Token) =>
        html`<span><a href="${paths.token(account, id)}">${isolated(name)}</a>${person !== undefined && html` <span class="hint">of ${isolated(person.email)}</span>`}</span>`,
    },
    { title: 'State', cell: stateOf },
    { title: 'Allows', cell: ({ policies }: Token) => policiesInWords(policies, 3) },
    { title: 'Last used', cell: lastUseOf },
    { title: 'Expires', cell: ({ expires_on }: Token) => time(expires_on) },
    { title: 'Created', cell: ({ issued_on }: Token) => time(issued_on) },
  ]
  return {
    title: 'API tokens',
    isWide: true,
    ...(mayWrite && { actions: create }),
    content: html`${table('API tokens of this account', columns, tokens)}${pager(paths.tokens(account), query, info)}`,
  }
}

const labels = {
  name: 'Name',
  permissions: 'Permissions',
  expires_on: 'Last day',
  addresses: 'Address',
  gateways: 'AI gateway',
  models: 'Model',
}

interface NewToken {
  readonly account: string
  readonly groups: readonly PermissionGroup[]
  readonly frame: FormFrame
  readonly draft: Draft
}

export function newTokenView({ account, groups, frame, draft }: NewToken): View {
  return {
    title: 'Create an API token',
    crumbs: crumbsOf(account),
    status: draft.status,
    content: draftForm(
      {
        frame,
        draft,
        labels,
        isOnce: true,
        send: 'Create the token',
        cancel: paths.tokens(account),
      },
      fieldsOf(draft, html`${permissionField(draft, groups)}`),
    ),
  }
}

function fieldsOf(draft: Draft, permissions: Html): Html {
  return html`${textField(draft, {
    name: 'name',
    label: labels.name,
    hint: 'What uses it, and where: “deploy script on build-3”.',
    maxLength: 120,
    hasFocus: !isPicking(draft),
  })}${permissions}${textField(draft, {
    name: 'expires_on',
    label: labels.expires_on,
    type: 'date',
    hint: 'It expires when this day ends, UTC. Without one it never does.',
    isOptional: true,
  })}${listField(draft, {
    name: 'addresses',
    label: labels.addresses,
    hint: 'It works from these addresses and networks only, such as 192.0.2.0/24. Without any it works from anywhere.',
    isOptional: true,
    add: 'Add another address',
  })}${listField(draft, {
    name: 'gateways',
    label: labels.gateways,
    hint: 'It calls models through these AI gateways only, by their ids. A * stands for any text: team-*. Without any, through all.',
    isOptional: true,
    add: 'Add another gateway',
  })}${listField(draft, {
    name: 'models',
    label: labels.models,
    hint: 'It calls these models only, such as openai/gpt-4o*. The name of an alias, or dynamic/NAME for a route, includes all that it leads to. Without any, it calls all.',
    isOptional: true,
    add: 'Add another model',
  })}`
}

function permissionField(draft: Draft, groups: readonly PermissionGroup[]): Html {
  return picker(draft, {
    name: 'permissions',
    label: labels.permissions,
    hint: 'What it may do in this account. You can give what your roles include.',
    find: 'Find a permission',
    all: 'Everything I may grant',
    items: groups,
    isOpen: ({ is_selectable }) => is_selectable,
    option: ({ id, name, description, is_selectable }) =>
      boxToTick(draft, `permissions.${id}`, { label: name, hint: description, isDisabled: !is_selectable }),
  })
}

interface EditedToken extends Change {
  /** Null if the form cannot represent the policies. */
  readonly groups: readonly PermissionGroup[] | null
}

export function editTokenView({ account, token, groups, frame, draft }: EditedToken): View {
  return {
    title: 'Edit this token',
    crumbs: [...crumbsOf(account), { title: token.name, path: paths.token(account, token.id) }],
    status: draft.status,
    content: draftForm(
      { frame, draft, labels, send: 'Save', cancel: paths.token(account, token.id) },
      fieldsOf(
        draft,
        groups === null
          ? html`<div class="field"><p class="label">${labels.permissions}</p><p class="hint">${policiesInWords(token.policies)}. Several policies were set by the management API; they stay as they are.</p></div>`
          : permissionField(draft, groups),
      ),
    ),
  }
}

/** Makes the confirmation before a token is switched off, or on again. */
export function stateView({ account, token, frame, draft }: Change): View {
  const isOn = token.status !== 'disabled'
  return confirmationPage({
    title: isOn ? 'Disable this token?' : 'Enable this token?',
    crumbs: [...crumbsOf(account), { title: token.name, path: paths.token(account, token.id) }],
    frame: { ...frame, hidden: { to: isOn ? 'disabled' : 'active' } },
    draft,
    what: isOn
      ? html`${usedLately(token.last_used_on, 'See that nothing needs it just now.')}<p>Anyone who uses ${isolated(token.name)} is refused until it is enabled again. Its value stays the same.</p>`
      : html`<p>Anyone who has the value of ${isolated(token.name)} may use it again: ${policiesInWords(token.policies)}.</p>`,
    send: isOn ? 'Disable the token' : 'Enable the token',
    cancel: paths.token(account, token.id),
  })
}

interface OneToken {
  readonly account: string
  readonly token: Token
  readonly mayWrite: boolean
  readonly budgets: Html | null
}

export function tokenView({ account, token, mayWrite, budgets }: OneToken): View {
  const isOn = token.status !== 'disabled'
  const dangers = [
    {
      title: isOn ? 'Disable' : 'Enable',
      text: isOn
        ? 'Refuses anyone who uses it, until it is enabled again.'
        : 'It is disabled: anyone who uses it is refused.',
      path: paths.tokenState(account, token.id),
      link: isOn ? 'Disable…' : 'Enable…',
    },
    {
      title: 'Roll',
      text: 'Makes a new value. The old one ends at once.',
      path: paths.rollToken(account, token.id),
      link: 'Roll…',
    },
    {
      title: 'Revoke',
      text: 'Deletes the token. Anyone who uses it is refused from then on.',
      path: paths.revokeToken(account, token.id),
      link: 'Revoke…',
    },
  ]
  // Only its owner may have the value of a personal one.
  const offered = dangers.filter(({ title }) => token.person === undefined || title !== 'Roll')
  return {
    title: token.name,
    crumbs: crumbsOf(account),
    content: html`<div class="card">${factsOf(token)}${mayWrite && token.person === undefined && html`<p><a class="button plain small" href="${paths.editToken(account, token.id)}">Edit</a></p>`}</div>${budgets}${dangerZone(mayWrite ? offered : [])}`,
  }
}

interface ShownValue {
  readonly account: string
  readonly token: Token
  readonly value: string
  readonly isNew: boolean
}

export function valueView({ account, token, value, isNew }: ShownValue): View {
  return {
    title: isNew ? 'Token created' : 'Token rolled',
    crumbs: crumbsOf(account),
    content: html`${shownOnce('Value', value, 'Save the value now.')}<div class="card">${factsOf(token)}</div>
<p class="aside"><a class="button" href="${paths.token(account, token.id)}">I have saved it</a></p>`,
  }
}

interface Change {
  readonly account: string
  readonly token: Token
  readonly frame: FormFrame
  readonly draft: Draft
}

export function rollView({ account, token, frame, draft }: Change): View {
  return confirmationPage({
    title: 'Roll this token?',
    crumbs: [...crumbsOf(account), { title: token.name, path: paths.token(account, token.id) }],
    frame,
    draft,
    what: html`${usedLately(token.last_used_on, 'Be ready to give it the new value.')}<p>${isolated(token.name)} gets a new value, and the old one ends at once: what uses it fails until it has the new one.</p>`,
    send: 'Roll the token',
    cancel: paths.token(account, token.id),
    isOnce: true,
  })
}

export function revokeView({ account, token, frame, draft }: Change): View {
  return confirmationPage({
    title: 'Revoke this token?',
    crumbs: [...crumbsOf(account), { title: token.name, path: paths.token(account, token.id) }],
    frame,
    draft,
    what: html`${usedLately(token.last_used_on, 'See that nothing needs it any more.')}<p>${isolated(token.name)} is deleted, and anyone who uses it is refused from then on. This cannot be undone.</p>${factsOf(token)}`,
    send: 'Revoke the token',
    cancel: paths.token(account, token.id),
  })
}

function lastUseOf({ last_used_on: used }: Token): Html {
  return time(used)
}

const factsOf = (token: Token) =>
  facts([
    ['State', stateOf(token)],
    ['Belongs to', token.person === undefined ? null : isolated(token.person.email)],
    [
      'Allows',
      token.person === undefined
        ? policiesInWords(token.policies)
        : html`${policiesInWords(token.policies)}, as far as the roles of that member do`,
    ],
    ['Calls only', callsInWords(token)],
    ['Works from', addressesInWords(token)],
    ['Works since', token.not_before === undefined ? null : time(token.not_before)],
    ['Expires', time(token.expires_on)],
    ['Created', time(token.issued_on)],
    ['Last used', lastUseOf(token)],
    ['Changed', token.modified_on === token.issued_on ? null : time(token.modified_on)],
    ['Id', html`<code>${token.id}</code>`],
  ])

function stateOf({ status }: Token) {
  return badge(status, status === 'active' ? 'good' : status === 'expired' ? 'bad' : '')
}

function crumbsOf(account: string) {
  return [{ title: 'API tokens', path: paths.tokens(account) }]
}
