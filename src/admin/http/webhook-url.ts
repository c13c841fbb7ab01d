// The address of a webhook, as bodies name it.

export const maxUrlLength = 2_048

/** Reads an absolute https URL, and writes it as URL parsers do. */
export function webhookUrl(text: string): { readonly value: string } | { readonly flaw: string } {
  const url = text.length <= maxUrlLength && /^https:\/\/[!-~]+$/.test(text) ? URL.parse(text) : null
  if (url === null || url.hash !== '' || url.href.length > maxUrlLength)
    return {
      flaw: `must be an https URL without a fragment, of at most ${maxUrlLength} visible ASCII characters`,
    }
  if (url.username !== '' || url.password !== '') return { flaw: 'must not contain a user or a password' }
  return { value: url.href }
}
