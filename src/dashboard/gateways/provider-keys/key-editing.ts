// Addition and deletion of keys of providers. A key is replaced by a new one beside it.

import { html } from '../../../base/text/html.ts'
import { providerNames } from '../../../config/model/config.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { apiPath, missing } from '../../page/api-client.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { Draft } from '../../parts/draft.ts'
import { checkbox, secretField, selectField, textField } from '../../parts/fields.ts'
import { confirmationPage, draftForm } from '../../parts/forms.ts'
import { time } from '../../parts/values.ts'
import { findGateway, gatewayOf } from '../page-data.ts'
import { crumbsOfKeys, listOf, nameOf, type ProviderKey } from './key-list.ts'

const secret = 'proof.secret'

const labels = {
  provider_slug: 'Provider',
  [secret]: 'Key',
  alias: 'Alias',
  default_config: 'Default',
} as const

export const showNewKey: Handler = request =>
  newKey(request, new Draft({ provider_slug: 'openai', alias: 'default', default_config: 'on' }))

export const addKey: Handler = async request => {
  const draft = Draft.of(request.form)
  const value = draft.value(secret).trim()
  // The page that asks for the password does not retain it.
  if (value === '') return newKey(request, draft.withFault(secret, 'Enter the key.'))
  const added = await request.api.post(gatewayOf(request, 'provider_configs'), {
    provider_slug: draft.value('provider_slug'),
    secret: value,
    alias: draft.value('alias').trim(),
    default_config: draft.has('default_config'),
  })
  if (added.ok) return redirectWith(listOf(request), 'provider-key-added')
  return newKey(request, draft.refused(added, { '/secret': secret }))
}

async function newKey(request: PageRequest, draft: Draft): Promise<View> {
  const [providers] = await Promise.all([providersFor(request), findGateway(request)])
  return {
    title: 'Add a provider key',
    crumbs: crumbsOfKeys(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        send: 'Add the key',
        cancel: listOf(request),
      },
      html`${selectField(draft, {
        name: 'provider_slug',
        label: labels.provider_slug,
        options: providers.map(value => ({ value, label: value })),
      })}${secretField(draft, {
        name: secret,
        label: labels[secret],
        hint: 'It is stored sealed, and never shown again.',
        maxLength: 4096,
      })}${textField(draft, {
        name: 'alias',
        label: labels.alias,
        hint: 'Calls choose it by svc-aig-byok-alias. Several keys with one alias are used in turn.',
        maxLength: 64,
      })}${checkbox(draft, {
        name: 'default_config',
        label: labels.default_config,
        hint: 'Calls that name no alias use it.',
      })}`,
    ),
  }
}

/** Returns the names of the known and configured providers, and of those of the account. */
async function providersFor({ account, api }: PageRequest): Promise<readonly string[]> {
  const ai = (name: string) => apiPath('accounts', account.id, 'ai-gateway', name)
  const [configured, custom] = await Promise.all([
    api.get<readonly { readonly name: string }[]>(ai('providers')),
    api.get<readonly { readonly slug: string }[]>(ai('custom-providers'), { per_page: 50 }),
  ])
  const own = custom.result.map(({ slug }) => `custom-${slug}`)
  return [...new Set([...providerNames, ...configured.result.map(({ name }) => name), ...own])]
}

export const confirmKeyDeletion: Handler = async request => {
  const key = await findKey(request)
  return confirmationPage({
    title: 'Delete this key?',
    crumbs: crumbsOfKeys(request),
    frame: request.frameFor(request.path),
    what: html`<p>No call uses <b>${isolated(nameOf(key))}</b> after a second. It was last used: ${time(key.last_used_at)}. The key stays valid at the provider until you revoke it there. This cannot be undone.</p>`,
    send: 'Delete the key',
    cancel: listOf(request),
  })
}

export const deleteKey: Handler = async request => {
  const deleted = await request.api.delete(keyOf(request))
  return deleted.ok ? redirectWith(listOf(request), 'provider-key-deleted') : deleted
}

function keyOf(request: PageRequest): string {
  return gatewayOf(request, 'provider_configs', request.params.providerkey!)
}

async function findKey(request: PageRequest): Promise<ProviderKey> {
  const { result } = await request.api.get<readonly ProviderKey[]>(gatewayOf(request, 'provider_configs'), {
    per_page: 50,
  })
  return result.find(({ id }) => id === request.params.providerkey) ?? missing()
}
