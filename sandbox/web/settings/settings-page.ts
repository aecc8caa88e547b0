import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Env } from '../../core/service.ts';
import type { ApiKey } from '../../core/store/credentials/api-keys.ts';
import type { Client } from '../../core/store/credentials/clients.ts';
import { docsPath } from '../../api/http/route.ts';
import { settingsPath } from '../sign-in/navigation.ts';
import { alert, type Html, renderPage } from '../pages/page.ts';

interface SettingsView {
	navigation: Html;
	apiKeys: ApiKey[];
	clients: Client[];
	/** The key or client that was just created, with its secret. */
	notice: Html | '';
	error?: string;
	/** The values of the form that has an error. */
	submittedTexts?: URLSearchParams;
}

/** Renders the settings "API and integrations". */
export const settingsPage = (c: Context<Env>, view: SettingsView) =>
	renderPage(c, {
		title: 'API and integrations',
		status: view.error === undefined ? 200 : 422,
		navigation: view.navigation,
		body: html`
			<h1>API and integrations</h1>
			<p class="quiet">What other programs need to work with your CRM Platform account. The
				<a href="${docsPath}">API documentation</a> describes what they can do.</p>
			${alert(view.error)} ${view.notice} ${apiKeys(view)} ${clients(view)}
		`,
	});

const apiKeys = ({ apiKeys, submittedTexts }: SettingsView) => html`
	<section class="card" aria-labelledby="api-keys">
		<h2 id="api-keys">API keys</h2>
		<p class="quiet">A key gives access to the whole account. Create a separate key for each program.</p>
		<ul class="things">
			${apiKeys.map(
				({ id, name, hint, createdAt, lastUsedAt }) => html`<li class="row">
					<div class="grow">
						<strong>${name}</strong> <code>…${hint}</code><br />
						<small>ID</small> <code>${id}</code><br />
						<small>Created ${day(createdAt)} ·
							${lastUsedAt === null ? 'never used' : `last used ${day(lastUsedAt)}`}</small>
					</div>
					${confirmed('revoke-key', id, name, 'Revoke', 'Programs that use it will stop working.')}
				</li>`,
			)}
		</ul>
		<form method="post" action="${settingsPath}">
			${hidden('create-key')}
			<label for="key-name">Name of a new key</label>
			<input id="key-name" name="key_name" required maxlength="100" autocomplete="off"
				placeholder="Which program is it for?" value="${submittedTexts?.get('key_name') ?? ''}" />
			<button class="main">Create API key</button>
		</form>
	</section>
`;

function clients({ clients, submittedTexts }: SettingsView) {
	const isPublic = submittedTexts?.get('client_type') === 'public';
	return html`<section class="card" aria-labelledby="clients">
		<h2 id="clients">OAuth clients</h2>
		<p class="quiet">An application acts on behalf of users and can access what they can see.</p>
		<ul class="things">
			${clients.map(
				(client) => html`<li class="row">
					<div class="grow">
						<strong>${client.name}</strong>
						<small>${client.isConfidential ? 'confidential' : 'public'}</small><br />
						<small>Client ID</small> <code>${client.id}</code><br />
						${client.redirectUris.map((uri) => html`<small><code>${uri}</code></small><br />`)}
						<small>Created ${day(client.createdAt)}</small>
					</div>
					${confirmed('delete-client', client.id, client.name, 'Delete', 'All its users are disconnected.')}
				</li>`,
			)}
		</ul>
		<form method="post" action="${settingsPath}">
			${hidden('create-client')}
			<label for="client-name">Name of a new client</label>
			<input id="client-name" name="client_name" required maxlength="100" autocomplete="off"
				placeholder="Users are asked whether they allow this application"
				value="${submittedTexts?.get('client_name') ?? ''}" />
			<label for="redirects">Redirect addresses, one per line</label>
			<textarea id="redirects" name="redirect_addresses" required rows="2" spellcheck="false"
				placeholder="https://app.example/oauth/callback">${submittedTexts?.get('redirect_addresses') ?? ''}</textarea>
			<fieldset>
				<legend>Can it store a secret?</legend>
				<label><input type="radio" name="client_type" value="confidential"
					${isPublic ? '' : 'checked'} /> Yes, it runs on a server (confidential)</label>
				<label><input type="radio" name="client_type" value="public"
					${isPublic ? 'checked' : ''} /> No, it runs on the user's device (public)</label>
			</fieldset>
			<button class="main">Create OAuth client</button>
		</form>
	</section>`;
}

/** A button that asks for confirmation, without a script. */
const confirmed = (action: string, id: string, name: string, verb: string, warning: string) =>
	html`<details class="menu">
		<summary class="danger" aria-label="${verb} ${name}">${verb}</summary>
		<form method="post" action="${settingsPath}">
			${hidden(action)}
			<input type="hidden" name="id" value="${id}" />
			<p><small>${warning}</small></p>
			<button class="danger">${verb} permanently</button>
		</form>
	</details>`;

const hidden = (action: string) => html`<input type="hidden" name="action" value="${action}" />`;

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
