/** Common names by country: given names, family names. */
export const namesByCountry: Record<string, { first: string[]; last: string[] }> = {
	DE: {
		first: words('Anna Jürgen Lena Matthias Sabine Felix Katharina Tobias Ingrid Moritz Birgit Jonas'),
		last: words('Müller Schneider Fischer Weber Krüger Wagner Schäfer Koch Richter Voß Lehmann Brandt'),
	},
	ES: {
		first: words('Ana José Lucía Carlos Marta Álvaro Carmen Diego Elena Íñigo Pilar Sergio'),
		last: words('García Moreno López Ruiz Hernández Muñoz Ortega Navarro Domínguez Vázquez Serrano'),
	},
	FR: {
		first: words('Camille Antoine Chloé Étienne Léa Guillaume Hélène Julien Margaux Nicolas Sophie Théo'),
		last: words('Martin Bernard Dubois Lefèvre Moreau Girard Roux Fournier Mercier Chevalier Gauthier'),
	},
	GB: {
		first: words('Oliver Amelia Harry Isla George Freya Callum Priya Rhys Eleanor Imran Siobhan'),
		last: words("Smith Taylor Davies Patel Wilson Hughes O'Connor Begum Campbell Thompson Khan Wright"),
	},
	US: {
		first: words('Emily Michael Sofia James Aaliyah Tyler Grace Carlos Hannah Marcus Chloe Ethan'),
		last: words('Johnson Williams Brown Garcia Miller Nguyen Anderson Jackson Kim Robinson Rivera Cooper'),
	},
	SE: {
		first: words('Astrid Erik Elsa Björn Freja Gustav Linnéa Oskar Maja Åke Saga Viktor'),
		last: words('Andersson Johansson Lindström Nilsson Sjöberg Bergqvist Öberg Holm Wallin Ekström'),
	},
	BR: {
		first: words('João Beatriz Thiago Larissa Antônio Gabriela Vinícius Helena Caio Luíza Rafael Mariana'),
		last: words('Silva Souza Oliveira Araújo Gonçalves Ribeiro Carvalho Almeida Barbosa Teixeira Cardoso'),
	},
	JP: {
		first: words('Haruto Yui Ren Sakura Daiki Aoi Kenji Mei Takumi Hina Sota Emi'),
		last: words('Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida'),
	},
	AU: {
		first: words('Charlotte Jack Matilda Noah Ruby Lachlan Zoe Angus Mia Cooper Indi Hugo'),
		last: words('Jones White Walker Kelly Ryan Martin Singh Murphy Chen Clarke Bennett Doyle'),
	},
};

function words(text: string): string[] {
	return text.split(' ');
}
