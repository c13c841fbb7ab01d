// Members and apps in the form of the management API, and in words.

export interface Role {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface Member {
  readonly id: string
  readonly email: string
  readonly status: 'accepted' | 'pending' | 'rejected'
  readonly roles: readonly Role[]
  /** Ids of those that a group at the OpenID provider gave. */
  readonly group_roles: readonly string[]
  readonly user: {
    readonly id: string
    readonly first_name: string | null
    readonly last_name: string | null
    readonly two_factor_authentication_enabled: boolean
    readonly passkeys: readonly Passkey[]
  }
}

export interface Passkey {
  readonly name: string
  readonly created_at: string
  readonly last_used_at: string | null
}

export interface Account {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly settings: {
    readonly enforce_twofactor: boolean
    readonly allow_client_id_metadata_documents: boolean
  }
}

export interface Grant {
  readonly id: string
  readonly scopes: readonly string[]
  readonly resource: readonly string[]
  readonly created_at: string
  readonly updated_at: string
  readonly client: {
    readonly client_id: string
    readonly client_name?: string
    readonly verified_host?: string
  }
  readonly user: { readonly id: string; readonly email?: string }
}

/** Returns the name of a member; null if unknown. */
export function nameOf({ user }: Member): string | null {
  return [user.first_name, user.last_name].filter(Boolean).join(' ') || null
}

/** Returns the roles of a member by their short names. */
export function rolesInWords({ roles }: Member): string {
  return roles.map(shortName).join(', ')
}

/** Returns the name of a role without its explanation. */
function shortName({ name }: Role): string {
  return name.replace(/ - .*$/, '')
}

/** Returns the name of an app; its id if it is deleted. */
export function appOf({ client }: Grant): string {
  return client.client_name ?? client.client_id
}
