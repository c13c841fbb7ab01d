// What to do first about an empty list: a link for people who may, and for all others, whom to ask.

import { type Html, html } from '../../base/text/html.ts'
import type { Permission } from '../../permissions/permit.ts'
import { rolesWith } from '../../permissions/roles.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'

/** Returns the step if the person may take it, and else the roles of people to ask. */
export function nextStep(
  { may, account }: Pick<PageRequest, 'may' | 'account'>,
  permission: Permission,
  step: Html,
): Html {
  if (may(permission)) return step
  const members = html`a member of this account`
  const whom = may('Members Read') ? html`<a href="${paths.members(account.id)}">${members}</a>` : members
  return html`Your roles do not include this. Ask ${whom} with the role ${either(rolesWith(permission))}.`
}

/** Makes the link to the page of a step, as a button. */
export function stepLink(path: string, text: string): Html {
  return html`<a class="button" href="${path}">${text}</a>`
}

function either(names: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
}
