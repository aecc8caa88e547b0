import { systemClock } from '../../nodes/CrmPlatform/base/clock';
import { startLocalServer, type LocalServer } from '../support/local-server.ts';
import { withWholeRequest, type WholeRequest } from '../support/whole-request.ts';

/** A service whose description and answers are those of one test. */
interface Form {
	document: object | string;
	answer(request: WholeRequest): FormReply | 'drop';
}

interface FormReply {
	status?: number;
	type?: string;
	headers?: Record<string, string>;
	body?: unknown;
	bytes?: Buffer;
}

/** Serves the service that a test has set. */
export function useForms() {
	let server: LocalServer;
	const forms = { form: undefined as unknown as Form, credential };
	beforeAll(async () => {
		server = await startLocalServer(withWholeRequest((request, response) => {
			const { document, answer } = forms.form;
			const reply = request.url.pathname.endsWith('openapi.json') ? { body: document } : answer(request);
			if (reply === 'drop') return void response.destroy();
			const { status = 200, type = 'application/json', headers, body, bytes }: FormReply = reply;
			response.writeHead(status, { 'content-type': type, ...headers });
			response.end(bytes ?? (typeof body === 'string' ? body : JSON.stringify(body)));
		}));
		jest.spyOn(systemClock, 'sleep').mockImplementation(async () => undefined);
	});
	afterAll(async () => await server.close());

	let services = 0;
	/** Each test is a service of its own, so that no description is remembered. */
	function credential(more: object = {}) {
		services += 1;
		return { baseUrl: `${server.url}/s${services}`, apiKey: `secret-key-${services}-of-the-user`, ...more };
	}
	return forms;
}
