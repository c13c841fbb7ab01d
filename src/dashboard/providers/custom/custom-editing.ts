// Addition of a custom provider, its switch, and its deletion.

import { html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { Draft } from '../../parts/draft.ts'
import { textField } from '../../parts/fields.ts'
import { confirmationPage, draftForm } from '../../parts/forms.ts'
import { type CustomProvider, crumbsOfCustom, customOf } from './custom-list.ts'

const labels = { name: 'Name', slug: 'Slug', base_url: 'Address' } as const

export const showNewCustomProvider: Handler = async request => newProvider(request, new Draft())

export const addCustomProvider: Handler = async request => {
  const draft = Draft.of(request.form)
  const body = Object.fromEntries(Object.keys(labels).map(name => [name, draft.value(name).trim()]))
  const added = await request.api.post(customOf(request), body)
  return added.ok
    ? redirectWith(listOf(request), 'custom-provider-added')
    : newProvider(request, draft.refused(added))
}

function newProvider(request: PageRequest, draft: Draft): View {
  return {
    title: 'Add a custom provider',
    crumbs: crumbsOfCustom(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        send: 'Add the provider',
        cancel: listOf(request),
      },
      html`${textField(draft, { name: 'name', label: labels.name, maxLength: 100, hasFocus: true })}${textField(
        draft,
        {
          name: 'slug',
          label: labels.slug,
          hint: 'Calls name it as custom-SLUG: lower-case letters, digits and hyphens. It cannot be changed.',
          maxLength: 57,
        },
      )}${textField(draft, {
        name: 'base_url',
        label: labels.base_url,
        type: 'url',
        placeholder: 'https://llm.example/v1',
        hint: 'It must be https, and public unless the operator allows its network. It cannot be changed, since keys are sealed for it.',
      })}`,
    ),
  }
}

export const confirmState: Handler = async request => {
  const { name, slug, enable } = await findProvider(request)
  return confirmationPage({
    title: enable ? 'Disable this provider?' : 'Enable this provider?',
    crumbs: crumbsOfCustom(request),
    frame: { ...request.frameFor(request.path), hidden: { to: enable ? 'off' : 'on' } },
    what: enable
      ? html`<p>Calls to <b>custom-${slug}</b> (${isolated(name)}) are refused within a second, until it is enabled again.</p>`
      : html`<p>Calls to <b>custom-${slug}</b> (${isolated(name)}) reach it again within a second.</p>`,
    send: enable ? 'Disable the provider' : 'Enable the provider',
    cancel: listOf(request),
  })
}

export const switchState: Handler = async request => {
  const to = request.form.get('to')
  // An ambiguous form opens nothing.
  if (to !== 'on' && to !== 'off') return confirmState(request)
  const changed = await request.api.patch(providerOf(request), { enable: to === 'on' })
  return changed.ok
    ? redirectWith(listOf(request), to === 'on' ? 'custom-provider-enabled' : 'custom-provider-disabled')
    : changed
}

export const confirmProviderDeletion: Handler = async request => {
  const { name, slug } = await findProvider(request)
  return confirmationPage({
    title: 'Delete this provider?',
    crumbs: crumbsOfCustom(request),
    frame: request.frameFor(request.path),
    what: html`<p>Calls to <b>custom-${slug}</b> (${isolated(name)}) are refused within a second. Gateways keep their keys for it until these are deleted. This cannot be undone.</p>`,
    send: 'Delete the provider',
    cancel: listOf(request),
  })
}

export const deleteCustomProvider: Handler = async request => {
  const deleted = await request.api.delete(providerOf(request))
  return deleted.ok ? redirectWith(listOf(request), 'custom-provider-deleted') : deleted
}

function listOf({ account }: PageRequest): string {
  return paths.customProviders(account.id)
}

function providerOf(request: PageRequest): string {
  return customOf(request, request.params.slug!)
}

async function findProvider(request: PageRequest): Promise<CustomProvider> {
  return (await request.api.get<CustomProvider>(providerOf(request))).result
}
