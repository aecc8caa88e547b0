import { html } from 'hono/html';
import { docsPath } from '../../api/http/docs-path.ts';
import type { Service } from '../../core/service.ts';
import { customerResources, eventsPath, recordsPath, settingsPath } from '../sign-in/navigation.ts';
import type { Html } from '../pages/page.ts';
import { recentEventList } from './events-page.ts';
import { resourceLabels, resourcesOfObjects } from './titles.ts';
import type { Visitor } from './visitor.ts';

/**
 * The number of records of each type, and the latest events.
 *
 * @param origin the origin of the API
 */
export function homeBody(service: Service, visitor: Visitor, origin: string): Html {
	const { session, store } = visitor;
	const tiles = [...customerResources, ...resourcesOfObjects(store)].map((resource) => {
		const total = store.table(resource.name)!.count([]);
		return html`<li>
			<a class="card" href="${recordsPath(resource.name)}">
				<strong>${total.toLocaleString('en-GB')}</strong> ${resourceLabels(store, resource).plural}
			</a>
		</li>`;
	});
	const key =
		session.member.role === 'admin'
			? html`get a key in <a href="${settingsPath}">API and integrations</a>`
			: 'ask an administrator for a key';
	return html`<h1>Welcome, ${session.member.name}</h1>
		<p class="quiet">This is a sandbox with made-up customers. Change whatever you like, and see here what
			your workflows do. Its API is at <code>${origin}</code>: ${key}, and read the
			<a href="${docsPath}">API documentation</a>.</p>
		<ul class="tiles">
			${tiles}
		</ul>
		<section aria-labelledby="recent">
			<div class="row apart">
				<h2 id="recent">Recent events</h2>
				<a href="${eventsPath}">All events</a>
			</div>
			${recentEventList(service, visitor)}
		</section>`;
}
