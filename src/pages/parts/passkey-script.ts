// The script of forms that an authenticator fills in: the few lines of WebAuthn that a browser needs.

/** Shows what is marked with `data-passkeys` where the browser has passkeys, and else `data-no-passkeys`. */
export const passkeyScript = String.raw`
const bytesOf = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), one => one.charCodeAt(0))
const textOf = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
const listOf = list => list?.map(one => ({ ...one, id: bytesOf(one.id) }))
function optionsOf({ challenge, user, excludeCredentials, allowCredentials, ...options }) {
  const more = { excludeCredentials: listOf(excludeCredentials), allowCredentials: listOf(allowCredentials) }
  for (const name in more) if (more[name]) options[name] = more[name]
  if (user) options.user = { ...user, id: bytesOf(user.id) }
  return { ...options, challenge: bytesOf(challenge) }
}
function responseOf({ id, type, response }) {
  const shown = {}
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'])
    if (response[name]) shown[name] = textOf(response[name])
  if (response.getTransports) shown.transports = response.getTransports()
  return JSON.stringify({ id, rawId: id, type, response: shown })
}
const troubles = {
  NotAllowedError: 'No passkey was used: you cancelled, or it took too long. Try again.',
  InvalidStateError: 'This device has a passkey for you already.',
}
function enhance(form) {
  const { ceremony, options, autofill } = form.dataset
  const publicKey = optionsOf(JSON.parse(options))
  const trouble = form.querySelector('.fault')
  let autofilling = null
  let isBusy = false
  async function run(more) {
    const credential = await navigator.credentials[ceremony]({ publicKey, ...more })
    form.elements.response.value = responseOf(credential)
    form.submit()
  }
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (isBusy) return
    isBusy = true
    trouble.hidden = true
    autofilling?.abort()
    try {
      await run({})
    } catch (cause) {
      trouble.textContent = troubles[cause.name] ?? 'Your browser could not use a passkey: ' + cause.message
      trouble.hidden = false
    }
    isBusy = false
  })
  if (autofill === undefined) return
  PublicKeyCredential.isConditionalMediationAvailable?.().then(isThere => {
    if (!isThere || isBusy) return
    autofilling = new AbortController()
    return run({ mediation: 'conditional', signal: autofilling.signal })
  }).catch(() => {})
}
if (window.PublicKeyCredential && isSecureContext) {
  for (const form of document.querySelectorAll('form[data-ceremony]')) enhance(form)
  for (const part of document.querySelectorAll('[data-passkeys]')) part.hidden = false
  for (const part of document.querySelectorAll('[data-no-passkeys]')) part.hidden = true
}
`
