// Whether apps may act in the account that nobody has registered, but that are known by a document.

import { html } from '../../base/text/html.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { checkbox } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import type { Account } from './member.ts'

export const showUnregisteredApps: Handler = async request => {
  const response = await request.api.get<Account>(accountOf(request))
  return view(request, new Draft(valuesOf(response.result)))
}

export const changeUnregisteredApps: Handler = async request => {
  const response = await request.api.get<Account>(accountOf(request))
  const draft = Draft.of(request.form)
  const now = valuesOf(response.result)
  // Saving an outdated page would revert a change that the person has not seen.
  if (draft.etag !== now.etag) return view(request, draft.overtaken({ allowed: now.etag }, now.etag))
  const { id, name, type, settings } = response.result
  const changed = await request.api.put(accountOf(request), {
    ...{ id, name, type },
    settings: { ...settings, allow_client_id_metadata_documents: draft.has('allowed') },
  })
  if (!changed.ok) return view(request, draft.refused(changed))
  return redirectWith(paths.members(request.account.id), 'unregistered-apps-changed')
}

/** Returns the values of the form; the rule itself serves as the tag. */
function valuesOf({ settings }: Account) {
  const isAllowed = settings.allow_client_id_metadata_documents
  return { [etagField]: isAllowed ? 'on' : 'off', ...(isAllowed && { allowed: 'on' }) }
}

function view(request: PageRequest, draft: Draft): View {
  const members = paths.members(request.account.id)
  return {
    title: 'Apps that are not registered',
    crumbs: [{ title: 'Members', path: members }],
    status: draft.status,
    content: draftForm(
      { frame: request.frameFor(request.path), draft, labels: {}, send: 'Save', cancel: members },
      html`${checkbox(draft, {
        name: 'allowed',
        label: 'Members may allow apps that are not registered',
        hint: 'Such an app is known by the URL of a document that its maker publishes. The operator decides which hosts may have such documents. If this is turned off, their access to this account ends at once.',
      })}`,
    ),
  }
}

function accountOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id)
}
