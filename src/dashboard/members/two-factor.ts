// Whether members of the account must sign in with two steps.

import { html } from '../../base/text/html.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { checkbox } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import type { Account } from './member.ts'

export const showTwoFactor: Handler = async request => {
  const response = await request.api.get<Account>(accountOf(request))
  return view(request, new Draft(valuesOf(response.result)))
}

export const changeTwoFactor: Handler = async request => {
  const response = await request.api.get<Account>(accountOf(request))
  const draft = Draft.of(request.form)
  const now = valuesOf(response.result)
  // Saving an outdated page would revert a change that the person has not seen.
  if (draft.etag !== now.etag) return view(request, draft.overtaken({ required: now.etag }, now.etag))
  if (draft.has('required') && lacksSecondFactor(request.actor.user, { enforceTwoFactor: true }))
    return view(
      request,
      draft.withFault('required', 'Turn it on in your own profile first: you would be locked out.'),
    )
  const { id, name, type } = response.result
  const settings = { ...response.result.settings, enforce_twofactor: draft.has('required') }
  const changed = await request.api.put(accountOf(request), { id, name, type, settings })
  if (!changed.ok) return view(request, draft.refused(changed))
  return redirectWith(paths.members(request.account.id), 'two-factor-changed')
}

/** Returns the values of the form; the rule itself serves as the tag. */
function valuesOf({ settings }: Account) {
  const isRequired = settings.enforce_twofactor
  return { [etagField]: isRequired ? 'on' : 'off', ...(isRequired && { required: 'on' }) }
}

function view(request: PageRequest, draft: Draft): View {
  const members = paths.members(request.account.id)
  return {
    title: 'Two-step sign-in of members',
    crumbs: [{ title: 'Members', path: members }],
    status: draft.status,
    content: draftForm(
      { frame: request.frameFor(request.path), draft, labels: {}, send: 'Save', cancel: members },
      html`${checkbox(draft, {
        name: 'required',
        label: 'Members must sign in with two steps',
        hint: 'This account is closed at once to members who have not turned it on, and to apps that act for them; each turns it on in their profile.',
      })}`,
    ),
  }
}

function accountOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id)
}
