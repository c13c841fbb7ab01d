// The revisions of the Model Context Protocol, which differ in where a request says what it is.

/** The one without sessions, in which fields of a request repeat what its body says. */
const statelessVersion = '2026-07-28'

/** Oldest first. */
const sessionVersions: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

const mcpVersions: readonly string[] = [...sessionVersions, statelessVersion]

export function isMcpVersion(version: string): boolean {
  return mcpVersions.includes(version)
}

/** Dates are in their order as text. Also true of revisions to come, which nobody knows yet. */
export function isStateless(version: string): boolean {
  return version >= statelessVersion
}

/** Lists what a client can ask for in the way in which it asked for an unknown version. */
export function likeVersions(unknown: string): readonly string[] {
  return isStateless(unknown) ? [statelessVersion] : mcpVersions
}
