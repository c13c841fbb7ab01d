// Schemas of accounts, roles and members, in requests and in responses.

import { permissions } from '../../permissions/permissions.ts'
import { roles } from '../../permissions/roles.ts'
import {
  about,
  closed,
  emailVerified,
  exactly,
  flag,
  id,
  listOf,
  type Members,
  named,
  oneOf,
  open,
  orNull,
  printable,
  type Schema,
  setOf,
  text,
  time,
} from '../schema/schema.ts'
import { maxNameLength } from './accounts.ts'

const readOnly = about('As responses show it; read-only.')

export const account = open({
  id,
  name: text,
  type: exactly('standard'),
  created_on: time,
  settings: open({
    enforce_twofactor: about('Whether members must use a second factor.', flag),
    allow_client_id_metadata_documents: about(
      'Whether members may let apps act for them here that are not registered, but known by a client ID metadata document.',
      flag,
    ),
  }),
})

export const changedAccount = closed(
  { id: about('The id in the path.', id), name: printable(maxNameLength), type: exactly('standard') },
  {
    settings: closed(
      {},
      {
        enforce_twofactor: about('`false` if left out.', flag),
        allow_client_id_metadata_documents: about('`false` if left out.', flag),
      },
    ),
    created_on: readOnly,
  },
)

const roleId = oneOf(roles.map(({ id }) => id))

const grants = {
  ...open(
    {},
    Object.fromEntries(
      permissions.map(({ scope }) => [scope.split('.')[0], open({}, { read: flag, write: flag, run: flag })]),
    ),
  ),
  description: 'What it permits, by what that is for.',
}

export const role = open({ id: roleId, name: text, description: text, permissions: grants })

/** An address as in requests; responses have it in lower case. */
const email: Schema = {
  ...text,
  maxLength: 254,
  pattern:
    "^[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+(?:\\.[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$",
}

const maxRoles = roles.length

const status = oneOf(['pending', 'accepted'])

export const newMember = closed(
  { email, roles: about('By their ids.', setOf(roleId, 1, maxRoles)) },
  { status: about('A person who is invited decides on it.', exactly('pending')) },
)

const writtenRole = closed({ id: roleId }, { name: readOnly, description: readOnly, permissions: readOnly })

export const changedMember = closed(
  { roles: listOf(writtenRole, 1, maxRoles) },
  {
    id: about('The id in the path.', id),
    email: about('As responses show it; read-only.', text),
    email_verified: readOnly,
    status: about('As responses show it; read-only.', status),
    group_roles: readOnly,
    user: readOnly,
  },
)

const name = orNull(text)

const person = {
  id,
  email: text,
  email_verified: emailVerified,
  first_name: name,
  last_name: name,
  two_factor_authentication_enabled: flag,
}

const passkey = open({
  name: about('Given by its owner.', text),
  created_at: time,
  last_used_at: orNull(time),
})

const shownMember: Members = {
  id,
  email: text,
  email_verified: emailVerified,
  status,
  roles: listOf(named('Role')),
  group_roles: about(
    'The ids of those roles that a group at the OpenID provider gave: each sign-in there gives or takes them.',
    listOf(roleId),
  ),
  user: about(
    'Of a person who has not accepted yet, only the address is shown.',
    open({ ...person, passkeys: listOf(passkey) }),
  ),
}

export const member = open(shownMember)

export const invitationUrl: Schema = {
  ...text,
  format: 'uri',
  description:
    'The link with which the person accepts the invitation, within 7 days; hand it over. It is shown only once.',
}

export const invitedMember = open({ ...shownMember, invitation_url: invitationUrl })

export const membership = open({
  id,
  account: named('Account'),
  roles: about('Their names.', listOf(text)),
  permissions: grants,
  status: oneOf(['pending', 'accepted', 'rejected']),
})

export const decidedMembership = closed({ status: oneOf(['accepted', 'rejected']) })

export const user = open({
  ...person,
  two_factor_authentication_locked: about('Whether an account of the user requires it.', flag),
  suspended: flag,
})

export const sessionId: Schema = { ...text, pattern: '^[0-9a-f]{64}$' }

export const session = open(
  {
    id: sessionId,
    method: about(
      'How the user proved who they are.',
      oneOf(['password', 'passkey', 'openid', 'invitation']),
    ),
    second_factor: flag,
    created_at: time,
    last_used_at: about('To some minutes.', time),
    ip: text,
  },
  {
    authenticated_at: about(
      'When the user last proved who they are: here, or to the OpenID provider. Missing if the provider did not say.',
      time,
    ),
    user_agent: about('Of the browser that signed in.', text),
  },
)
