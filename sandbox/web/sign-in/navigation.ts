import { html } from 'hono/html';
import { docsPath } from '../../api/http/route.ts';
import type { Service } from '../../core/service.ts';
import { customObjects, recordsName } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { jobs } from '../../core/schemas/jobs.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { icon, type Html } from '../pages/page.ts';
import type { Session } from './session.ts';
import { signOutForm } from './sign-in.ts';

export const eventsPath = '/events';
export const settingsPath = '/settings/api';

/** The path of the list of a resource's records; the page of each record is below it. */
export const recordsPath = (resource: string): string => `/records/${resource.replaceAll('/', '.')}`;

interface Place {
	path: string;
	label: string;
}

/** Whether records describe the account rather than its customers; everyone sees them. */
const isSetup = ({ visibility }: Resource): boolean => visibility === 'everyone';

/** The resources whose records are about customers. */
export const customerResources = resources.filter((resource) => !isSetup(resource));

/** Every page of the console, in groups; `current` is the path of the current page. */
export function navigation(service: Service, session: Session, current: string): Html {
	const { member } = session;
	return html`<header class="navigation">
		<a class="brand" href="/">${icon} CRM Platform</a>
		<nav aria-label="Main">
			${Object.entries(places(service, session)).map(
				([group, members]) => html`<p>${group}</p>
					<ul>
						${members.map(({ path, label }) => {
							const isCurrent = current === path || current.startsWith(`${path}/`);
							return html`<li>
								<a href="${path}" ${isCurrent ? html`aria-current="page"` : ''}>${label}</a>
							</li>`;
						})}
					</ul>`,
			)}
		</nav>
		<div class="who">
			<p><strong>${member.name}</strong><br /><small>${member.email}</small></p>
			${signOutForm('/')}
		</div>
	</header>`;
}

function places({ store }: Service, { member }: Session): Record<string, Place[]> {
	const definitions = store.table(customObjects.name)!;
	const objects = definitions.cached('all', () => definitions.findAll([]));
	const placeOf = (resource: Resource) => ({ path: recordsPath(resource.name), label: capital(namesOf(resource).plural) });
	return {
		Records: [
			...customerResources.map(placeOf),
			...objects.map((object) => ({
				path: recordsPath(recordsName(String(object['key']))),
				label: String(object['label_plural']),
			})),
		],
		Activity: [
			{ path: eventsPath, label: 'Events' },
			{ path: recordsPath(webhooks.name), label: 'Webhooks' },
			{ path: recordsPath(jobs.name), label: 'Jobs' },
		],
		Developers: [
			...(member.role === 'admin' ? [{ path: settingsPath, label: 'API and integrations' }] : []),
			{ path: docsPath, label: 'API documentation' },
		],
		Setup: resources.filter(isSetup).map(placeOf),
	};
}
