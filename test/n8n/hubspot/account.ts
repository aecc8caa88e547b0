import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../support/listen.ts';

type Values = Record<string, string>;

interface Contact {
	vid: number;
	values: Values;
}

/** The account's data. The tests read it at `/account`. */
export interface Account {
	contacts: Contact[];
	deals: Array<{ dealId: number; values: Values }>;
	/** The address to which the account's app sends events. */
	targetUrl: string;
}

const property = (name: string, label: string, options: string[] = []) => ({
	name,
	label,
	type: 'string',
	options: options.map((option) => ({ label: option, value: option.toLowerCase() })),
});

const contactProperties = [
	property('associatedcompanyid', 'Primary Associated Company ID'),
	property('email', 'Email'),
	property('firstname', 'First Name'),
	property('jobtitle', 'Job Title'),
	property('lastname', 'Last Name'),
	property('lifecyclestage', 'Lifecycle Stage', ['Subscriber', 'Lead', 'Opportunity', 'Customer']),
];

const stages = ['Appointment', 'Negotiation', 'Won'].map((label) => ({ label, stageId: label.toLowerCase() }));

/** Starts a server with the part of HubSpot's API (v1 and v3) that n8n's HubSpot node uses in a newcomer's tasks. */
export async function startHubSpot() {
	const account: Account = {
		contacts: ['customer', 'lead'].map((lifecyclestage, i) => ({
			vid: i + 1,
			values: { email: `${lifecyclestage}@example.com`, lifecyclestage, associatedcompanyid: '501' },
		})),
		deals: [{ dealId: 11, values: { dealname: 'Fleet telematics', dealstage: 'appointment' } }],
		targetUrl: '',
	};
	const answer: RequestListener = (request, response) => {
		void respond(account, request, response);
	};
	const server = createServer(answer);
	return {
		url: await listen(server),
		answer,
		async close() {
			server.closeAllConnections();
			await new Promise((closed) => server.close(closed));
		},
	};
}

async function respond(account: Account, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const body = await text(request);
	const { pathname } = new URL(request.url ?? '', 'https://api.hubapi.com');
	const place = `${request.method} ${pathname}`;
	const found = answers.map(([pattern, result]) => ({ match: pattern.exec(place), result })).find(({ match }) => match);
	const result = found?.result(account, decodeURIComponent(found.match?.[1] ?? ''), body === '' ? {} : JSON.parse(body));
	response.writeHead(result === undefined ? 404 : 200, { 'content-type': 'application/json' });
	response.end(JSON.stringify(result ?? { message: `The tests have no answer for ${place}` }));
}

type Body = {
	properties?: Array<{ property?: string; name?: string; value: string }>;
	filterGroups?: Array<{ filters: Array<{ propertyName: string; value: string }> }>;
	targetUrl?: string;
};

type Answer = (account: Account, part: string, body: Body) => unknown;

const valuesOf = ({ properties = [] }: Body): Values =>
	Object.fromEntries(properties.map(({ property: named, name = named ?? '', value }) => [name, value]));

function upserted({ contacts }: Account, email: string, body: Body) {
	const existingContact = contacts.find(({ values }) => values['email'] === email);
	const contact = existingContact ?? { vid: contacts.length + 1, values: { email } };
	if (!existingContact) contacts.push(contact);
	Object.assign(contact.values, valuesOf(body));
	return { vid: contact.vid, isNew: !existingContact };
}

const wrapped = (values: Values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));

const profileOf = ({ vid, values }: Contact) => ({ vid, properties: wrapped(values), 'identity-profiles': [] });

const listed: Answer = ({ contacts }) => ({ contacts: contacts.map(profileOf), 'has-more': false, 'vid-offset': 0 });

const found: Answer = ({ contacts }, _, { filterGroups = [] }) => {
	const results = contacts.filter(({ values }) =>
		filterGroups.every(({ filters }) => filters.every(({ propertyName, value }) => values[propertyName] === value)),
	);
	return { total: results.length, results: results.map(({ vid, values }) => ({ id: String(vid), properties: values })) };
};

const shownDeal = ({ dealId, values }: Account['deals'][number]) => ({ dealId, properties: wrapped(values) });

const movedDeal: Answer = ({ deals }, id, body) => {
	const deal = deals.find(({ dealId }) => String(dealId) === id);
	if (!deal) return undefined;
	Object.assign(deal.values, valuesOf(body));
	return shownDeal(deal);
};

const answers: Array<[RegExp, Answer]> = [
	[/^GET \/account$/, (account) => account],
	[/^GET \/account-info\/v3\/details$/, () => ({ portalId: 1 })],
	[/^GET \/crm\/v3\/properties\/contacts$/, () => ({ results: contactProperties })],
	[/^GET \/properties\/v2\/contacts\/properties$/, () => contactProperties],
	[/^POST \/contacts\/v1\/contact\/createOrUpdate\/email\/(.+)$/, upserted],
	[/^GET \/contacts\/v1\/contact\/vid\/(\d+)\/profile$/, ({ contacts }, vid) => profileOf(contacts[Number(vid) - 1]!)],
	[/^GET \/contacts\/v1\/lists\/all\/contacts\/all$/, listed],
	[/^POST \/crm\/v3\/objects\/contacts\/search$/, found],
	[/^GET \/crm-pipelines\/v1\/pipelines\/deals$/, () => ({ results: [{ pipelineId: 'default', stages }] })],
	[/^GET \/deals\/v1\/deal\/paged$/, ({ deals }) => ({ deals: deals.map(shownDeal), hasMore: false })],
	[/^PUT \/deals\/v1\/deal\/(\d+)$/, movedDeal],
	[/^GET \/webhooks\/v3\/\w+\/settings$/, ({ targetUrl }) => (targetUrl === '' ? undefined : { targetUrl })],
	[/^PUT \/webhooks\/v3\/\w+\/settings$/, (account, _, { targetUrl = '' }) => ({ targetUrl: (account.targetUrl = targetUrl) })],
	[/^DELETE \/webhooks\/v3\/\w+\/settings$/, (account) => ({ targetUrl: (account.targetUrl = '') })],
	[/^GET \/webhooks\/v3\/\w+\/subscriptions$/, () => ({ results: [] })],
	[/^POST \/webhooks\/v3\/\w+\/subscriptions$/, () => ({ id: '1' })],
];
