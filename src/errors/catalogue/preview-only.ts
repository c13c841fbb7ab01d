// The errors of the interface that this version never raises, because it lacks the feature, such as Workers.
// They can be previewed, and are documented.

export const previewOnly = {
  cname_cross_account: {
    code: 1014,
    status: 403,
    title: 'CNAME cross-user banned',
    category: 'config',
    detail:
      'The hostname is a DNS alias for a site that belongs to a different account, and aliases across accounts are not allowed. The DNS settings of this hostname are responsible.',
    guidance:
      '**Do not retry.** The owner of the hostname must remove the alias, or agree with the owner of the other site to have it set up there.',
    cause: 'A CNAME record points at a zone of another account.',
    remedy: 'Point the record at a zone of the same account.',
  },
  host_not_found: {
    code: 1018,
    status: 409,
    title: 'Could not find host',
    category: 'config',
    detail:
      'The site is registered with the gateway but not active yet: the ownership of the hostname is not verified. The owner of the site is responsible.',
    guidance:
      '**Do not retry.** The owner of the site must complete the activation; until then the gateway does not serve it.',
    cause: 'The ownership of the zone is not verified.',
    remedy: 'Finish the verification of the hostname.',
  },
  compute_recursion_limit: {
    code: 1019,
    status: 503,
    title: 'Compute server error',
    category: 'worker',
    detail:
      'The request has passed through too many gateways, one handing it to the next, and was stopped. The routing of the site is responsible.',
    guidance:
      '**Do not retry.** Every attempt takes the same endless route. The operator of the site must break the chain of gateways.',
    cause: 'The CDN-Loop header lists more hops than the gateway allows.',
    remedy: 'Follow the request from hop to hop, in Via and CDN-Loop, and remove the detour.',
  },
  worker_host_not_allowed: {
    code: 1021,
    status: 409,
    title: 'Could not find host',
    category: 'worker',
    detail:
      'A script of this site requested a hostname that it is not allowed to reach. The script is responsible.',
    guidance:
      '**Do not retry.** The developer of the site must remove the forbidden hostname from the script.',
    cause: 'A script requested a host that it is not allowed to reach.',
    remedy: 'Let the script request only hosts of its own zone.',
  },
  worker_routing_failed: {
    code: 1022,
    status: 409,
    title: 'Could not find host',
    category: 'worker',
    detail:
      'The request could not be routed to the script that should handle it. The routing settings of the site are responsible.',
    guidance: '**Do not retry.** The operator of the site must correct the route that leads to the script.',
    cause: 'No usable route leads from the host to a script.',
    remedy: 'Check the pattern of the route and the script that it names.',
  },
  worker_subrequest_prohibited: {
    code: 1024,
    status: 409,
    title: 'Could not find host',
    category: 'worker',
    detail:
      'A script of this site requested an address that scripts must not reach. The author of the script is responsible.',
    guidance:
      '**Do not retry.** The developer of the site must change the script to request a permitted address.',
    cause: 'A script made a request to a prohibited address.',
    remedy: 'Look for IP addresses and internal names in the requests of the script.',
  },
  cname_not_allowed: {
    code: 1030,
    status: 409,
    title: 'CNAME not allowed',
    category: 'config',
    detail:
      'The hostname is a DNS alias, and the site that it points to accepts no aliases. The DNS settings of this hostname are responsible.',
    guidance:
      '**Do not retry.** The owner of the hostname must replace the alias with a record that the target accepts.',
    cause: 'A CNAME record points at a zone that accepts none.',
    remedy: 'Serve the hostname from a zone of its own.',
  },
  worker_preview_invalid: {
    code: 1031,
    status: 400,
    title: 'Invalid preview configuration',
    category: 'worker',
    detail:
      'This is the preview of a script whose preview settings are not valid. The settings are responsible, not your request.',
    guidance: '**Do not retry.** The developer must open the preview again, or correct its settings.',
    cause: 'The preview settings of a script are invalid or outdated.',
    remedy: 'Create the preview again.',
  },
  cname_cross_account_blocked: {
    code: 1032,
    status: 403,
    title: 'CNAME cross-user banned',
    category: 'config',
    detail:
      'The hostname is an alias for a site of another account, and that account has blocked it. The two owners must sort it out; your request is not at fault.',
    guidance:
      '**Do not retry.** The owner of the hostname needs the consent of the owner of the target, or another target.',
    cause: 'A CNAME record points at a zone whose account refuses the alias.',
    remedy: 'Ask the other account to permit the alias, or remove it.',
  },
  edge_ip_restricted: {
    code: 1034,
    status: 403,
    title: 'Edge IP restricted',
    category: 'config',
    detail:
      'The request for this site arrived at an address of the gateway that does not serve it. The DNS record of the site, or a fixed address in your own settings, is wrong.',
    guidance:
      '**Do not retry.** Remove any fixed entry for this hostname from your hosts file. If there is none, the operator of the site must correct the DNS record.',
    cause: 'The zone is bound to a listener, and the request arrived on another one.',
    remedy: 'Point the DNS record at the listener of the zone, or unbind the zone.',
  },
  rewrite_header_not_allowed: {
    code: 1040,
    title: 'Invalid request rewrite (header modification not allowed)',
    category: 'rewrite',
    detail:
      'A rule of this site tried to change a header that only the gateway itself may set. The rule is responsible.',
    guidance: '**Do not retry.** The operator of the site must remove the reserved header from the rule.',
    cause:
      'A rewrite would change a header that only the gateway sets. Such a rule is refused when the configuration is read, so no request meets it.',
    remedy:
      'Take the header out of the rule. Framing, connection and forwarding headers are set by the gateway.',
  },
  worker_script_missing: {
    code: 1042,
    status: 404,
    title: 'Worker script not found',
    category: 'worker',
    detail: 'This hostname is meant to be served by a script, and no script is deployed for it.',
    guidance: '**Do not retry.** The developer of the site must deploy the script, or remove the hostname.',
    cause: 'A host is reserved for a script that was never deployed.',
    remedy: 'Deploy the script for this host.',
  },
  access_application_not_found: {
    code: 1043,
    status: 500,
    title: 'Access application not found',
    category: 'config',
    detail:
      'This site asks its visitors to log in through an application that does not exist any more. The settings of the site are responsible.',
    guidance:
      '**Do not retry.** You cannot log in until the operator of the site names an existing login application.',
    cause: 'The zone names a login application that does not exist.',
    remedy: 'Create the application, or remove its name from the zone.',
  },
  cross_zone_image_resizing: {
    code: 1047,
    status: 403,
    title: 'Cross-zone image resizing denied',
    category: 'config',
    detail:
      'The request asks to resize an image that belongs to another site, which this site does not permit.',
    guidance:
      '**Do not retry.** Ask for the image without resizing, or have the operator of the site permit the other site as a source.',
    cause: 'An image transformation names a source in another zone.',
    remedy: 'Add the other zone to the permitted sources of images.',
  },
  header_routing_deprecated: {
    code: 1051,
    status: 400,
    title: 'Header routing option is deprecated',
    category: 'unsupported',
    ownerActionRequired: true,
    detail: 'The request chooses its route by a header option that is no longer supported.',
    guidance:
      '**Do not retry.** Leave the routing header out, and have the operator of the site move the routing into the settings of the gateway.',
    cause: 'A request uses a deprecated routing header.',
    remedy: 'Replace the header with a route.',
  },
  preview_routing_unsupported: {
    code: 1053,
    status: 400,
    title: 'Preview routing not supported for subrequests',
    category: 'unsupported',
    ownerActionRequired: true,
    detail: 'A preview was requested from within another request, where previews cannot be routed.',
    guidance:
      '**Do not retry.** Open the preview directly in its own window, or have the developer of the site change how it is called.',
    cause: 'Preview routing was used in a request made by a script.',
    remedy: 'From scripts, request the deployed version; use previews only from outside.',
  },
  worker_rendering_error: {
    code: 1100,
    status: 500,
    title: 'Rendering error',
    category: 'worker',
    detail: 'The script that makes this page failed while it was rendering. The site is responsible.',
    guidance: '**Do not retry.** The developer of the site must find the fault in how the page is rendered.',
    cause: 'The script runtime failed in a way that has no code of its own.',
    remedy: 'Look in the log of the script at the time given.',
  },
  worker_threw_exception: {
    code: 1101,
    status: 500,
    title: 'Worker threw exception',
    category: 'worker',
    detail: 'A script of this site failed with an uncaught error while it handled your request.',
    guidance:
      '**Do not retry.** The developer of the site must correct the script; the ray ID and the time lead to the exception.',
    cause: 'A script threw an exception that nothing caught.',
    remedy: 'Find the exception in the log of the script, and handle it there.',
  },
  worker_exceeded_resources: {
    code: 1102,
    status: 503,
    title: 'Worker exceeded resource limits',
    category: 'worker',
    detail: 'A script of this site used more processor time or memory than it is allowed, and was stopped.',
    guidance:
      '**Do not retry.** The developer of the site must make the script lighter, or raise its limits.',
    cause: 'A script went over its limit of CPU time or memory.',
    remedy: 'Measure the script with a request like the logged one.',
  },
  worker_owner_action_required: {
    code: 1103,
    status: 500,
    title: 'Worker not available',
    category: 'worker',
    detail: 'The script that serves this site is suspended until its owner takes action.',
    guidance: '**Do not retry.** The owner of the script must resolve the reason for the suspension.',
    cause: 'A script is suspended until its owner takes action.',
    remedy: 'Look for a notice to the owner of the script.',
  },
  worker_script_not_found: {
    code: 1104,
    status: 500,
    title: 'Script not found',
    category: 'worker',
    detail:
      'The settings of this site name a script that does not exist. It may have been renamed or deleted.',
    guidance: '**Do not retry.** The operator of the site must name an existing script in the settings.',
    cause: 'A route names a script that is not there.',
    remedy: 'Compare the name in the route with the deployed scripts.',
  },
  worker_temporarily_unavailable: {
    code: 1105,
    status: 503,
    title: 'Temporarily unavailable',
    category: 'worker',
    ownerActionRequired: false,
    detail:
      'The platform that runs the scripts of this site is not available at the moment. The site itself is not at fault.',
    guidance:
      '**Do not retry.** Automatic retries only add load. Visit the site again later; only the operator of the platform can fix this.',
    cause: 'The script platform is unavailable.',
    remedy: 'Look at the state of the platform.',
  },
  snippet_multiple_origin_fetches: {
    code: 1201,
    status: 503,
    title: 'Snippet tried to continue to origin multiple times',
    category: 'snippet',
    detail:
      'A snippet of this site tried to pass your request to the origin server more than once, which is not allowed.',
    guidance:
      '**Do not retry.** The developer of the site must change the snippet so that it requests the origin server only once.',
    cause: 'A snippet sent one request to the origin twice.',
    remedy: 'Keep the first response in the snippet, and use it again.',
  },
  snippet_subrequest_limit: {
    code: 1202,
    status: 503,
    title: 'Snippet exceeded the subrequest limit',
    category: 'snippet',
    detail: 'A snippet of this site made more requests of its own than one visit may cause.',
    guidance: '**Do not retry.** The developer of the site must reduce the requests that the snippet makes.',
    cause: 'A snippet made too many subrequests.',
    remedy: 'Look for a loop of requests in the snippet.',
  },
  snippet_cpu_limit: {
    code: 1203,
    title: 'Snippet exceeded the CPU time limit',
    category: 'snippet',
    detail: 'A snippet of this site needed too much processor time for your request and was stopped.',
    guidance: '**Do not retry.** The developer of the site must make the snippet faster.',
    cause: 'A snippet went over its limit of CPU time.',
    remedy: 'Look for expensive loops and regular expressions in the snippet.',
  },
  snippet_memory_limit: {
    code: 1204,
    title: 'Snippet exceeded the memory limit',
    category: 'snippet',
    detail: 'A snippet of this site needed too much memory for your request and was stopped.',
    guidance: '**Do not retry.** The developer of the site must make the snippet hold less data at a time.',
    cause: 'A snippet went over its limit of memory.',
    remedy: 'Have the snippet stream bodies instead of reading them whole.',
  },
  snippet_threw_exception: {
    code: 1206,
    title: 'Snippet threw exception',
    category: 'snippet',
    detail: 'A snippet of this site failed with an uncaught error while it handled your request.',
    guidance:
      '**Do not retry.** The developer of the site must correct the snippet, which fails for requests like this one.',
    cause: 'A snippet threw an exception that nothing caught.',
    remedy: 'Find the exception in the log of the snippet.',
  },
} as const
