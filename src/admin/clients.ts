// Handlers of OAuth clients. The value of a secret is shown once, when it is made. routes.ts lists them.

import { newClient, revised as revisedClient } from '../clients/client.ts'
import { mintSecret, withNewSecret, withoutOldSecret } from '../clients/secret.ts'
import { verificationFor } from '../domains/challenge.ts'
import type { OAuthClient } from '../store/records.ts'
import { auditOf, changedMembers, membersSet, type Resource } from './audit.ts'
import { readNewClient } from './client-body.ts'
import { changeClient } from './client-change.ts'
import { viewClient } from './client-view.ts'
import { type Answer, failure, list, notFound, success } from './envelope.ts'
import type { Api, Call } from './guard.ts'
import { once } from './idempotency.ts'
import { add, drop, pageOf, pageOfSome, put, type Revised, revise } from './kept.ts'
import { etagOf, unmet } from './precondition.ts'
import { mostPerPage, pageParameters, Parameters } from './query.ts'

export const clientParameters = [...pageParameters, 'client_name', 'visibility'] as const

export async function createClient(call: Call, api: Api): Promise<Answer> {
  return once(call, api, ['POST', 'oauth_clients'], async keep => {
    const { account, body, now } = call
    const settings = readNewClient(body)
    if (!('name' in settings)) return failure(400, settings)
    const verification = verificationFor(null, settings.clientUri, now)
    if (verification === 'host_frozen') throw new Error('the host of a new client is frozen')
    const isSecret = settings.tokenEndpointAuthMethod !== 'none'
    const { value, secret } = isSecret ? mintSecret(api.secrets, now) : { value: null, secret: null }
    const client = newClient(account, settings, { secret, verification, now })
    const answer = success(viewClient(client, value), etagOf(client))
    const audit = auditOf(call, 'create', resourceOf(client.id), membersSet(body))
    const told = { audit, ...keep(answer) }
    return (await add(api.store.oauthClients, client, told, api.log)) ? answer : null
  })
}

/** Answers with a page of clients by creation; as large as it may be, unless asked otherwise, since published clients take it for all there are. */
export async function listClients({ account, query }: Call, { store }: Api): Promise<Answer> {
  const parameters = new Parameters(query)
  const page = parameters.page(mostPerPage)
  const visibility = query.has('visibility') ? parameters.choice('visibility', ['private', 'public']) : null
  if (parameters.faults.length > 0) return failure(400, parameters.faults)
  const name = query.get('client_name')?.toLowerCase() ?? ''
  const isWanted = (client: OAuthClient) =>
    (visibility === null || client.visibility === visibility) && client.name.toLowerCase().includes(name)
  const { items, window } =
    name === '' && visibility === null
      ? await pageOf(store.oauthClients, account, page)
      : await pageOfSome(store.oauthClients, account, page, all => all.filter(isWanted))
  return list(
    items.map(client => viewClient(client)),
    window,
  )
}

export async function getClient(call: Call, api: Api): Promise<Answer> {
  const kept = await findClient(call, api)
  return kept ? success(viewClient(kept.record), etagOf(kept.record)) : noClient
}

export async function updateClient(call: Call, api: Api): Promise<Answer> {
  let value: string | null = null
  const revised = await reviseClient(call, api, kept => {
    const changed = changeClient(kept, call.body, api.secrets, call.now)
    if (!('client' in changed)) return failure(400, changed)
    const { client, secret } = changed
    if (client === kept) return success(viewClient(kept), etagOf(kept))
    value = secret
    const members = changedMembers(withoutTimes(kept), withoutTimes(client))
    return { record: client, audit: auditOf(call, 'update', resourceOf(kept.id), members) }
  })
  return 'record' in revised ? success(viewClient(revised.record, value), etagOf(revised.record)) : revised
}

/** Removes a client, its secrets and all that they open. */
export async function deleteClient(call: Call, { store, log }: Api): Promise<Answer> {
  const id = call.params.client_id!
  const kept = await findClient(call, { store })
  if (kept === null) return noClient
  const refusal = unmet(call.ifMatch, kept.record)
  if (refusal) return refusal
  return (await drop(store.oauthClients, auditOf(call, 'delete', resourceOf(id)), log))
    ? success({ id })
    : noClient
}

/** Gives the client a second secret; the first goes on working until it is dropped. */
export async function rotateSecret(call: Call, api: Api): Promise<Answer> {
  return once(call, api, ['POST', 'rotate_secret', call.params.client_id!], async keep => {
    const kept = await findClient(call, api)
    if (kept === null) return noClient
    const { record, version } = kept
    const refusal = unmet(call.ifMatch, record)
    if (refusal) return refusal
    const { value, secret } = mintSecret(api.secrets, call.now)
    const rotated = withNewSecret(record, secret)
    if (typeof rotated === 'string') return refusals[rotated]
    const client = revisedClient(record, { secrets: rotated.secrets }, call.now)
    const answer = success({ client_secret: value })
    const audit = auditOf(call, 'rotate_secret', resourceOf(record.id), secretMembers)
    const told = { audit, ...keep(answer) }
    return (await put(api.store.oauthClients, client, version, told, api.log)) ? answer : null
  })
}

/** Drops the older of two secrets. */
export async function deleteRotatedSecret(call: Call, api: Api): Promise<Answer> {
  const revised = await reviseClient(call, api, kept => {
    const rest = withoutOldSecret(kept)
    if (typeof rest === 'string') return refusals[rest]
    const audit = auditOf(call, 'delete_rotated_secret', resourceOf(kept.id), secretMembers)
    return { record: revisedClient(kept, { secrets: rest.secrets }, call.now), audit }
  })
  return 'record' in revised ? success({ id: revised.record.id }) : revised
}

/** The members of the read-out that tell of a secret come or gone. */
const secretMembers = ['client_secrets', 'has_rotated_secret']

const noClient = notFound('There is no such OAuth client')

const refusals = {
  two_secrets: failure(409, [
    {
      code: 10409,
      message: 'The client has two secrets: drop the old one (DELETE rotate_secret) before you make another',
    },
  ]),
  no_secrets: failure(400, [
    {
      code: 10410,
      message: 'The client has no secrets to rotate, since its token_endpoint_auth_method is none',
    },
  ]),
  one_secret: failure(404, [{ code: 10411, message: 'The client has no old secret to drop' }]),
} as const

async function findClient({ account, params }: Call, { store }: Pick<Api, 'store'>) {
  const id = params.client_id!
  return isId(id) ? store.oauthClients.get(account, id) : null
}

/** Changes the client that the path names, as long as If-Match lets it pass. */
async function reviseClient(
  { account, params, ifMatch }: Call,
  { store, log }: Api,
  change: (kept: OAuthClient) => Revised<OAuthClient>,
): Promise<Revised<OAuthClient>> {
  const id = params.client_id!
  const guarded = (kept: OAuthClient) => unmet(ifMatch, kept) ?? change(kept)
  return (isId(id) ? await revise(store.oauthClients, account, id, guarded, log) : null) ?? noClient
}

function resourceOf(id: string): Resource {
  return { resourceKind: 'oauth_client', resource: id }
}

function withoutTimes(client: OAuthClient) {
  const { updated_at, ...view } = viewClient(client)
  return view
}

function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text)
}
