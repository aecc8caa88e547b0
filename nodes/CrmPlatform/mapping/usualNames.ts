import type { Collection } from '../api/http/path';
import { getOrCreate } from '../base/maps';
import { externalId, idField, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { unaccentedText } from '../values/foldedText';
import type { Column } from './columns';
import { meaningsAmong, wordsOf, type MeaningsOf } from './fieldNames';

/** What people call a company, or the company that a record belongs to. */
const companyWords = 'company, account, organization, organisation, firma, firmen, unternehmen, empresa, entreprise, société, azienda, bedrijf';
const closingWords = 'close, closing, abschluss, cierre, clôture, fechamento, sluiting, chiusura';
const sourceWords = 'source, herkunft, quelle, origen, origine, origem, fonte, bron | original, lead';

/**
 * What other systems and people call a field, by its name in the API; with the collection in front if the field of other
 * records is called otherwise: words and whole names, then words that may stand beside one of these words. Case, accents and
 * punctuation do not matter, and UsualNames knows what exports add. To teach imports a name, add it here.
 *
 * Names that also stand for something else are left out: `Name` of a person, `E-mail Type`, `Region`.
 */
const namesOfFields: Record<string, string> = {
	first_name: 'first, given, forename, fname, vorname, prénom, nombre, nome, imię, voornaam, förnamn',
	last_name: 'last, family, surname, lname, nachname, familienname, nom de famille, apellido, cognome, sobrenome, nazwisko, achternaam, efternamn',
	email: 'email, mail, correo, courriel, posta elettronica | e, address, adresse, adres, indirizzo, primary, work, business, electrónico',
	phone:
		'phone, telephone, tel, mobile, cell, telefon, handy, mobil, móvil, téléphone, portable, telefono, cellulare, telefone, celular, telefoon, company main phone | number, nummer, número, numéro, numero, primary, main, work, business, office, home',
	job_title: 'job, position, role, designation, occupation, organization title, berufsbezeichnung, stellenbezeichnung, funktion, puesto, cargo, poste, fonction, qualifica, ruolo, functie | title, titel',
	'contacts/job_title': 'title',
	company_id: `${companyWords}, employer | primary, associated, related, sales`,
	'deals/company_id': 'customer, client, kunde, kunden, cliente, klant',
	'companies/name': 'display name, raison sociale, nombre, nom, nome, naam',
	parent_company_id: `parent, konzern | ${companyWords}`,
	contact_id: 'contact, person, ansprechpartner, kontakt, contacto, contato, contatto | primary, main, associated, related, email, persoon',
	owner_id:
		'owner, owned by, assigned to, assignee, responsible, account manager, sales rep, salesperson, besitzer, zuständig, zuständiger, verantwortlich, verantwortlicher, propietario, propriétaire, proprietario, responsável, verantwoordelijke, eigenaar, assigned user | record, sales, account, user, person, mitarbeiter, email',
	'deals/owner_id': 'user',
	lead_source: sourceWords,
	'deals/source': sourceWords,
	lifecycle_stage: 'lifecycle, life cycle stage, lead stage, customer stage, kundenstatus | stage, phase',
	'address.street':
		'street/road name address, street, street 1, street address, street address line, address 1, address line 1, line 1, straße, strasse, straße hausnummer, straße und hausnummer, calle, rue, via, ulica, straat',
	'address.city': 'city/town/village/locality address, city, town, ort, stadt, ciudad, ville, città, cidade, miasto, plaats',
	'address.state': 'state/county address, state, state/region, province, state/province, address region, bundesland, provincia, provincie',
	'address.postal_code': 'zip/postal code address, postal code, zip, zip code, zipcode, postcode, post code, postal, zip/postal code, billing code, mailing code, plz, postleitzahl, cap, cep | code, código',
	'address.country': 'country address, country, country/region, land, land/region, país, país/región, pays, pays/région, paese | code',
	timezone: 'tz',
	language: 'language, locale, sprache, idioma, langue, lingua, taal | preferred',
	website: 'website, web page, web site, web address, url, homepage, home page, webseite, internetseite, sitio web, site web, url du site web, sito web | url, company',
	domain: 'domain, dominio, domaine | web, email',
	industry: 'industry, sector, branche, industria, secteur, settore, segmento | type, activité',
	employee_count: 'employee, headcount, company size, mitarbeiter, mitarbeiterzahl, empleado, effectif, employé, werknemer, funcionário, dipendenti | number, no, anzahl, número, numero, aantal',
	annual_revenue: 'revenue, turnover, umsatz, jahresumsatz, ingresos, facturación, affaires, faturamento, fatturato, omzet | annual, yearly, jährlicher, anual, anuales, annuel, annuo, chiffre',
	'companies/description': 'about, about us, details, beschreibung, descripción, descrição',
	'deals/title': 'lead name, name, topic, bezeichnung, titel, título',
	stage_id: 'stage, phase, milestone, etapa, étape, fase | sales, verkauf, pipeline, current',
	pipeline_id: 'pipeline, funnel, funil | sales, vertrieb',
	amount: 'amount, value, deal size, betrag, wert, importe, cantidad, montant, importo, valor, bedrag, volumen, revenue, umsatz | estimated, est, expected, erwarteter',
	currency: 'currency, währung, moneda, devise, valuta, moeda | iso, code, value',
	probability: 'probability, likelihood, confidence, wahrscheinlichkeit, probabilidad, probabilité, probabilidade, probabilità, kans | win, winning, close',
	expected_close_date: `${closingWords} | date, datum, fecha, data, expected, estimated, est, forecast, forecasted, erwartetes, voraussichtlicher, voraussichtliches, prevista, previsto, previsão, prévue, verwachte`,
	lost_reason: 'reason, verlustgrund, absagegrund, motivo, motif, reden | lost, loss, closed, pérdida, perte, perda, perdita, verlies',
	external_id: 'record id, id record, item id, external key, source id, legacy id, datensatz-id, id de registro, id d’objet, id d’enregistrement',
	tag_ids: 'tag, label, category, group, group membership, etiqueta, étiquette, schlagwort, schlagworte, schlagwörter | list',
};

/** Words that do not say which field of a record a name means. */
const fillers = new Set('name, nombre, nom, nome, naam, of, the, de, da, do, du, des, del, der, la, l, d, van'.split(', '));
/** Alone, they do not say enough. */
const vague = new Set(`${closingWords}, reason, motivo, motif, reden, lead`.split(', ').map(unaccentedText));

/**
 * Words that other programs also use for something else: the state of a job, the URL of a request. A file is previewed;
 * in items, which are not, they are names of fields only where the CRM uses them.
 */
const ambiguousInItems = new Set(
	'about, cap, cargo, categories, category, cell, client, code, confidence, customer, deal, details, first, group, groups, item id, job, label, labels, land, last, lead, locale, mail, milestone, parent, person, phase, position, revenue, role, source, source id, state, tag, title, topic, url, user, value, via, wert'
		.split(', ').map(wordsOf),
);

/** Also what may be the ID of another record, and a name beside a first name, which may be the company's. @param usual what it usually means */
export const isAmbiguousInItems = (name: string, { field, dependsOnOthers }: UsualMeaning): boolean =>
	field?.name === externalId.name || (dependsOnOthers && field?.name === 'last_name')
	|| [wordsOf(name), foldedWords(name).filter((word) => !fillers.has(word)).join('')].some((words) => ambiguousInItems.has(words));

/** The field that a column usually is, and whether it is that only beside the other columns. */
interface UsualMeaning {
	field: Field | undefined;
	dependsOnOthers: boolean;
}

/** What a record of a collection is called in names of files, and of columns such as `Person - Phone`, `Deal Stage` or `Account ID`. */
export const recordWords: Record<Collection, string[]> = {
	'/contacts': ['contact', 'person', 'lead', 'kontakt', 'kontakte', 'personen', 'contacto', 'contato', 'contatto'],
	'/companies': companyWords.split(', '),
	'/deals': ['deal', 'opportunity', 'lead', 'transaction', 'negocio', 'oportunidad', 'oportunidade', 'negociação', 'opportunité', 'angebot', 'verkaufschance', 'verkaufschancen'],
	'/tickets': ['ticket', 'case'],
	'/tasks': ['task', 'activity'],
};

/** The fields that names of columns mean, usual names in other systems included. */
export class UsualNames {
	readonly meaningsOf: MeaningsOf;
	private readonly collection: Collection;
	private readonly fields: Field[];
	/** The names of the fields that are usually called so. */
	private readonly byUsualName = new Map<string, Set<string>>();
	/** The words of each field: those that mean it, and those that may stand beside them. */
	private readonly bags = new Map<string, Record<'names' | 'beside', Set<string>>>();
	private readonly vocabulary: Set<string>;
	private readonly ownWords: Set<string>;
	private readonly fieldsByName = new Map<string, Field | undefined>();

	constructor({ collection, fields, recordFieldNames }: { collection: Collection; fields: Field[]; recordFieldNames: ReadonlySet<string> }) {
		this.meaningsOf = meaningsAmong(fields, recordFieldNames);
		this.collection = collection;
		this.fields = fields;
		const ownWords = recordWords[collection] ?? [];
		this.ownWords = new Set(ownWords.map(unaccentedText));
		for (const [key, entry] of Object.entries(namesOfFields)) {
			const [field = '', of] = key.split('/').reverse();
			if (of !== undefined && `/${of}` !== collection) continue;
			const [namesOfField = [], beside = []] = entry.split(' | ').map((some) => some.split(', ').map(unaccentedText));
			const clear = namesOfField.filter((name) => !vague.has(name));
			for (const name of clear) getOrCreate(this.byUsualName, wordsOf(name), () => new Set<string>()).add(field);
			const bag = getOrCreate(this.bags, field, () => ({ names: new Set<string>(), beside: new Set<string>() }));
			for (const name of namesOfField) bag.names.add(name);
			for (const word of beside) bag.beside.add(word);
		}
		this.vocabulary = new Set([...fillers, ...this.ownWords, ...[...this.bags.values()].flatMap(({ names, beside }) => [...names, ...beside])]);
		// The ID of another type of record, such as that of an account among contacts, is not the record's own. Dynamics has the
		// record's own ID in a column called (Do Not Modify) Account.
		for (const word of ownWords) for (const name of [`${word} id`, `do not modify ${word}`]) this.byUsualName.set(wordsOf(name), new Set(['external_id']));
	}

	fieldsOf(columns: Column[]): UsualMeaning[] {
		const fields = columns.map(({ name }) => this.fieldOf(name));
		return columns.map((column, i) => {
			const others: OtherColumns = (field) => columns.filter((_, j) => j !== i && fields[j]?.name === field);
			if (isStreet(column, others)) return { field: this.fieldOf('street'), dependsOnOthers: true };
			if (isLastName(column, others)) return { field: this.fieldOf('last_name'), dependsOnOthers: true };
			return { field: isSalutation(column, others) ? undefined : fields[i], dependsOnOthers: false };
		});
	}

	/** The field of a name, by the surest way to read it: as it is or without what exports add; as a part of an address; by its words. */
	fieldOf(name: string): Field | undefined {
		const first = (names: string[]) => names.flatMap((variant) => this.exactly(variant) ?? [])[0];
		return getOrCreate(this.fieldsByName, name, () => {
			const ofAddress = first([wordsOf(name).replace(addressPrefix, '')]);
			return first(this.variantsOf(name)) ?? (ofAddress && isPartOfAddress(ofAddress) ? ofAddress : this.byWords(name));
		});
	}

	/** Whether a name, as exports write it, is among the words of fields. */
	isAmong(name: string, words: ReadonlySet<string>): boolean {
		return this.variantsOf(name).some((variant) => words.has(wordsOf(variant)));
	}

	/** The field that has a name, or is usually called so in other systems. */
	private exactly(name: string): Field | undefined {
		const [meaning, ...others] = this.meaningsOf(name);
		const fieldNames = [...(this.byUsualName.get(wordsOf(unaccentedText(name))) ?? [])];
		const usual = fieldNames.flatMap((field) => this.fields.find((other) => other.name === field) ?? []);
		if (meaning === undefined || (typeof meaning === 'object' && valueShape(meaning) === 'object')) return usual.length === 1 ? usual[0] : undefined;
		// An ID without a name is the other system's.
		return typeof meaning === 'object' && others.length === 0 && meaning.name !== idField.name ? meaning : undefined;
	}

	/**
	 * A name, and what is left of it without what exports add: `Person - Email`, `Tier__c`, `Last Change (GMT+1)`, `Address 1 -
	 * City`, `Phone 1 - Value`, `Propietario de la empresa`, `Stage Name`, `Email addresses`.
	 */
	private variantsOf(name: string): string[] {
		const plain = additions.reduce((text, [addition, rest]) => text.replace(addition, rest), withoutSuffix(name));
		const says = (word: string) => !fillers.has(unaccentedText(word)) && !this.isAny(this.ownWords, unaccentedText(word));
		const ofRecord = wordsIn(plain).filter(says).join(' ');
		return [...new Set([name, plain, ofRecord, singular(ofRecord)])];
	}

	/** The only field whose words a name has, beside words that say nothing. */
	private byWords(name: string): Field | undefined {
		const all = foldedWords(withoutSuffix(name)).flatMap((word) => this.wordsOfCompound(word));
		const words = all.filter((word) => !fillers.has(word) && !this.isAny(this.ownWords, word));
		const isOwn = all.some((word) => this.isAny(this.ownWords, word) && !vague.has(word));
		const ofRecord: Record<string, string | undefined> = { '': titles[this.collection], id: externalId.name };
		const fieldName = ofRecord[words.join(' ')];
		if (isOwn && fieldName !== undefined) return this.fields.find((field) => field.name === fieldName);
		if (words.every((word) => vague.has(word))) return undefined;
		const fitting = this.fields.filter((field) => {
			const { names, beside } = this.bags.get(field.name) ?? {};
			return names && words.some((word) => this.isAny(names, word)) && words.every((word) => this.isAny(names, word) || this.isAny(beside!, word));
		});
		return fitting.length === 1 ? fitting[0] : undefined;
	}

	/** The two words of a German or Dutch compound that are known: `Abschlussdatum`, `Bedrijfsnaam`. */
	private wordsOfCompound(word: string): string[] {
		if (this.isAny(this.vocabulary, word)) return [word];
		for (let at = 3; at <= word.length - 3; at++) {
			const [first, second] = [word.slice(0, at), word.slice(at)];
			const beginning = [first, first.replace(/s$/, ''), first.replace(/n$/, '')].find((part) => this.vocabulary.has(part));
			if (beginning !== undefined && this.vocabulary.has(second)) return [beginning, second];
		}
		return [word];
	}

	private isAny(words: ReadonlySet<string>, word: string): boolean {
		return words.has(word) || words.has(singular(word));
	}
}

type OtherColumns = (field: string) => Column[];

/** In one cell, an address has several parts; beside its city, the column has the street. */
const isStreet = ({ name }: Column, others: OtherColumns): boolean =>
	wholeAddress.test(wordsOf(name).replace(addressPrefix, '')) && others('address.city').some(({ filled }) => filled > 0);

/** Beside first names, `Name` or `Nom` is the last name unless it repeats them. */
function isLastName({ name, samples }: Column, others: OtherColumns): boolean {
	if (!/^(name|nom|nome|naam)$/i.test(name) || others('last_name').length > 0) return false;
	const firstNames = others('first_name').flatMap((column) => column.samples);
	const repeatsFirst = samples.some((value) => String(value).split(/\s+/).some((word) => firstNames.includes(word)));
	return firstNames.length > 0 && !repeatsFirst;
}

/** Beside a position, a title is a salutation, even if nobody has a position. */
const isSalutation = ({ name }: Column, others: OtherColumns): boolean => wordsOf(name) === 'title' && others('job_title').length > 0;

/** The field for what a record is called. */
const titles: Record<Collection, string> = { '/companies': 'name', '/deals': 'title' };

const wordsIn = (name: string): string[] => name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');

const foldedWords = (name: string): string[] => wordsIn(name).map(unaccentedText);

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<=[^s])s$/, '');

export const isPartOfAddress = ({ path }: Field): boolean => path[0] === 'address';

/** What stands in front of the parts of an address: `Mailing Street`, `BillingCity`, `Address 1: ZIP`. */
const addressPrefix = /^(?:mailing|mail|billing|business|work|office|primary|main|home|location|address1?)+(?=.)/;

const wholeAddress = /^(?:address|adresse|anschrift|dirección|indirizzo|adres)$/;

/** What some exports add to the first of several: `Email - Work`. */
const ofFirst = / - (?:Work|Main|Primary|Home|Mobile)$/i;

/** What exports add to names, and what replaces it: `Phone 1 - Value`, `Address 1 - City`, `Email - Work`, `Street 1`. */
const additions: Array<[addition: RegExp, rest: string]> = [[/ 1 - Value$/i, ''], [/^(\w+) 1 - /, '$1 '], [ofFirst, ''], [/ 1$/, '']];

/** Which of the addresses of a record a column is part of, by its name. */
export const whichAddress = (name: string): string =>
	(addressPrefix.exec(wordsOf(name))?.[0] ?? '').replace(/address1?|location/g, '') + (ofFirst.exec(name)?.[0] ?? '');

/** A name without a note in parentheses, and without what Salesforce adds to custom fields. */
export const withoutSuffix = (name: string): string => name.replace(/\s*\([^()]*\)\s*$/, '').replace(/__c$/i, '');
