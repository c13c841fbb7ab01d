// The pages of members.

import { type Html, html } from '../../base/text/html.ts'
import { button, facts, form, type FormFrame, isolated } from '../../pages/parts/components.ts'
import type { ListInfo } from '../page/api-client.ts'
import type { View } from '../page/page-request.ts'
import type { Draft } from '../parts/draft.ts'
import { checkboxes, textField } from '../parts/fields.ts'
import { confirmationPage, dangerZone, draftForm } from '../parts/forms.ts'
import { badge, emptyState, pager, table } from '../parts/lists.ts'
import { shownOnce, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { type Account, type Member, nameOf, type Passkey, type Role, rolesInWords } from './member.ts'

interface MemberList {
  readonly account: Account
  readonly members: readonly Member[]
  readonly info: ListInfo
  readonly query: URLSearchParams
  readonly mayWrite: boolean
  readonly mayRule: boolean
  readonly first: Html
}

export function listView({ account, members, info, query, mayWrite, mayRule, first }: MemberList): View {
  const columns = [
    {
      title: 'Email',
      isName: true,
      cell: ({ id, email }: Member) => html`<a href="${paths.member(account.id, id)}">${isolated(email)}</a>`,
    },
    { title: 'Name', cell: (member: Member) => isolated(nameOf(member) ?? '') },
    { title: 'Roles', cell: rolesInWords },
    { title: 'State', cell: stateOf },
    { title: 'Two-step sign-in', cell: factorOf },
  ]
  return {
    title: 'Members',
    isWide: true,
    ...(mayWrite && {
      actions: html`<a class="button" href="${paths.newMember(account.id)}">Invite a person</a>`,
    }),
    content: html`${table('Members of this account', columns, members)}${pager(paths.members(account.id), query, info)}${info.total_count === 1 && emptyState('Nobody else yet', 'Invite the people who share this account. Roles decide what each of them may see and do.', first)}
<div class="card"><h2>Rules for members</h2>
<p>${
      account.settings.enforce_twofactor
        ? 'Members must sign in with two steps. To those who have not turned that on, this account is closed.'
        : 'Members may sign in with a password alone.'
    }</p>
<p>${
      account.settings.allow_client_id_metadata_documents
        ? 'They may let apps act for them here that nobody has registered.'
        : 'They may let only registered apps act for them here.'
    }</p>
<div class="actions">${mayRule && html`<a href="${paths.twoFactor(account.id)}">${account.settings.enforce_twofactor ? 'Change two-step sign-in' : 'Require two-step sign-in'}</a><a href="${paths.unregisteredApps(account.id)}">Unregistered apps</a>`}<a href="${paths.apps(account.id)}">Apps that act for members</a></div></div>`,
  }
}

interface Invitation {
  readonly account: string
  readonly roles: readonly Role[]
  readonly frame: FormFrame
  readonly draft: Draft
}

export function invitationView({ account, roles, frame, draft }: Invitation): View {
  return {
    title: 'Invite a person',
    crumbs: crumbsOf(account),
    status: draft.status,
    content: draftForm(
      {
        frame,
        draft,
        labels: { email: 'Email', roles: 'Roles' },
        isOnce: true,
        send: 'Invite',
        cancel: paths.members(account),
      },
      html`${textField(draft, {
        name: 'email',
        label: 'Email',
        type: 'email',
        hint: 'No mail is sent: you get a link, and hand it over.',
        hasFocus: true,
      })}${rolesField(draft, roles)}`,
    ),
  }
}

interface Link {
  readonly account: string
  readonly member: Member
  readonly link: string
}

export function linkView({ account, member, link }: Link): View {
  return {
    title: 'Invitation',
    crumbs: crumbsOf(account),
    content: html`${shownOnce('Link', link, 'Hand this link over.')}
<div class="card">${facts([
      ['For', isolated(member.email)],
      ['Roles', rolesInWords(member)],
    ])}<p class="hint">Anyone who has the link can accept as ${isolated(member.email)}, once, within 7 days: send it on a way that only they read. A newer link ends this one.</p></div>
<p class="aside"><a class="button" href="${paths.member(account, member.id)}">I have handed it over</a></p>`,
  }
}

interface OneMember {
  readonly account: string
  readonly member: Member
  readonly roles: readonly Role[]
  readonly draft: Draft
  readonly mayWrite: boolean
  readonly rolesFrame: FormFrame
  readonly linkFrame: FormFrame
}

export function memberView(one: OneMember): View {
  const { account, member, draft, mayWrite } = one
  const isPending = member.status === 'pending'
  const dangers = [
    {
      title: 'Sign out everywhere',
      text: 'Ends their sessions, and the tokens of apps that act for them.',
      path: paths.signMemberOut(account, member.id),
      link: 'Sign out…',
    },
    {
      title: isPending ? 'Withdraw the invitation' : 'Remove',
      text: isPending
        ? 'The link stops working.'
        : 'Closes this account to them, and ends what they allowed apps to do in it.',
      path: paths.removeMember(account, member.id),
      link: isPending ? 'Withdraw…' : 'Remove…',
    },
  ]
  return {
    title: nameOf(member) ?? member.email,
    crumbs: crumbsOf(account),
    status: draft.status,
    content: html`<div class="card">${factsOf(member)}</div>${passkeysCard(member)}${mayWrite && [isPending && linkCard(one), rolesCard(one), dangerZone(isPending ? dangers.slice(1) : dangers)]}`,
  }
}

function linkCard({ linkFrame }: OneMember): Html {
  return html`<div class="card"><h2>Invitation</h2><p>The link was shown once. If it is lost, make another: the old one stops working.</p>${form(linkFrame, button('Create another link', 'plain'))}</div>`
}

/** They are their owner's: nobody in the account can remove one. */
function passkeysCard({ email, user: { passkeys } }: Member): Html | false {
  if (passkeys.length === 0) return false
  const columns = [
    { title: 'Name', isName: true, cell: ({ name }: Passkey) => isolated(name) },
    { title: 'Added', cell: ({ created_at: at }: Passkey) => time(at) },
    { title: 'Last used', cell: ({ last_used_at: at }: Passkey) => time(at) },
  ]
  return html`<div class="card"><h2>Passkeys</h2>${table('Passkeys of this person', columns, passkeys)}
<p class="hint">Only the person can remove one. If they have lost all that they sign in with, create a recovery link on the machine of the gateway, which removes their password and passkeys: <code>gatehouse user invite ${isolated(email)}</code></p></div>`
}

function rolesCard({ rolesFrame, draft, roles, account, member }: OneMember): Html {
  return draftForm(
    {
      frame: rolesFrame,
      draft,
      labels: { roles: 'Roles' },
      send: 'Save the roles',
      ...(draft.status !== undefined && { cancel: paths.member(account, member.id) }),
    },
    rolesField(draft, roles, member.group_roles),
  )
}

interface Change {
  readonly account: string
  readonly member: Member
  readonly frame: FormFrame
}

export function signOutView({ account, member, frame }: Change): View {
  return confirmationPage({
    title: 'Sign this member out?',
    crumbs: crumbsOf(account, member),
    frame,
    what: html`<p>${isolated(member.email)} is signed out in every browser, and the tokens of all apps that act for them end, in other accounts too. They can sign in again, and what they allowed is remembered.</p>`,
    send: 'Sign the member out',
    cancel: paths.member(account, member.id),
  })
}

export function removalView({ account, member, frame }: Change): View {
  const isPending = member.status === 'pending'
  return confirmationPage({
    title: isPending ? 'Withdraw this invitation?' : 'Remove this member?',
    crumbs: crumbsOf(account, member),
    frame,
    what: isPending
      ? html`<p>The link of ${isolated(member.email)} ends. You can invite them again.</p>`
      : html`<p>This account is closed to ${isolated(member.email)} at once, and what they allowed apps to do in it ends. Tokens and apps that they made for the account stay.</p>${factsOf(member)}`,
    send: isPending ? 'Withdraw the invitation' : 'Remove the member',
    cancel: paths.member(account, member.id),
  })
}

function rolesField(draft: Draft, roles: readonly Role[], ofGroups: readonly string[] = []): Html {
  return checkboxes(draft, {
    name: 'roles',
    label: 'Roles',
    options: roles.map(({ id, name, description }) => ({
      value: id,
      label: name,
      hint: ofGroups.includes(id) ? `${description} ${ofGroup}` : description,
    })),
  })
}

const ofGroup =
  'From a group at the OpenID provider: if you take it away, the next sign-in there gives it again.'

const factsOf = (member: Member) =>
  facts([
    ['Email', isolated(member.email)],
    ['Name', nameOf(member) && isolated(nameOf(member)!)],
    ['State', stateOf(member)],
    ['Roles', rolesInWords(member)],
    ['Two-step sign-in', member.status === 'accepted' ? factorOf(member) : null],
    ['Id', html`<code>${member.id}</code>`],
  ])

function stateOf({ status }: Member): Html {
  if (status === 'accepted') return badge('member', 'good')
  return badge(status === 'pending' ? 'invited' : 'declined')
}

function factorOf({ status, user }: Member): string {
  if (status !== 'accepted') return ''
  return user.two_factor_authentication_enabled ? 'yes' : 'no'
}

function crumbsOf(account: string, member: Member | null = null) {
  const list = { title: 'Members', path: paths.members(account) }
  return member === null ? [list] : [list, { title: member.email, path: paths.member(account, member.id) }]
}
