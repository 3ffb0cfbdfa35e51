#include "image_check.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

void image_name(const struct gantry_backend_image *image, char *text, size_t size)
{
    switch (image->kind) {
    case GANTRY_IMAGE_CUBIN:
        snprintf(text, size, "cubin sm_%u", image->arch);
        break;
    case GANTRY_IMAGE_FATBIN:
        snprintf(text, size, "fatbin");
        break;
    case GANTRY_IMAGE_PTX:
        if (image->isa_version)
            snprintf(text, size, "ptx compute_%u (.version %u.%u)", image->arch,
                     image->isa_version / 10, image->isa_version % 10);
        else
            snprintf(text, size, "ptx compute_%u", image->arch);
        break;
    case GANTRY_IMAGE_SOURCE:
        snprintf(text, size, "source");
        break;
    case GANTRY_IMAGE_SPIRV:
        snprintf(text, size, "spirv");
        break;
    case GANTRY_IMAGE_HOST:
        snprintf(text, size, "host code");
        break;
    }
}

/* The latest PTX version that a driver assembles; 0: not known, so let it try. */
static uint32_t newest_ptx(int driver)
{
    static const struct {
        int driver;
        uint32_t ptx;
    } rows[] = {{11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78},
                {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84},
                {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}};
    size_t last = sizeof(rows) / sizeof(rows[0]) - 1, i = last;

    if (driver >= rows[last].driver + 10)
        return 0;
    while (i > 0 && rows[i].driver > driver)
        i--;
    return rows[i].ptx;
}

static bool ptx_fits(const struct gantry_drv_device *device,
                     const struct gantry_backend_image *image, struct report *report)
{
    int driver = device->instance->cu.version;
    uint32_t newest = newest_ptx(driver);

    if (image->arch > device->info.arch_number) {
        report_add(report, "needs compute capability %u.%u", image->arch / 10, image->arch % 10);
        return false;
    }
    if (newest && image->isa_version > newest) {
        report_add(report, "the driver of CUDA %d.%d reads PTX up to %u.%u", driver / 1000,
                   driver % 1000 / 10, newest / 10, newest % 10);
        return false;
    }
    return true;
}

static bool inside(uint64_t offset, uint64_t size, uint64_t end)
{
    return offset <= end && size <= end - offset;
}

static bool elf_is_whole(const void *data, size_t size)
{
    Elf64_Ehdr header;

    if (size < sizeof(header))
        return false;
    memcpy(&header, data, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize < sizeof(Elf64_Shdr) ||
        !inside(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, size) ||
        !inside(header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize, size))
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;

        memcpy(&section, (const char *)data + header.e_shoff + (size_t)i * header.e_shentsize,
               sizeof(section));
        if (section.sh_type != SHT_NOBITS && !inside(section.sh_offset, section.sh_size, size))
            return false;
    }
    return true;
}

static bool fatbin_is_whole(const void *data, size_t size)
{
    enum { MAGIC_SIZE = 4 };
    static const unsigned char magic[MAGIC_SIZE] = {0x50, 0xed, 0x55, 0xba};
    struct {
        unsigned char magic[MAGIC_SIZE];
        uint16_t version, header_size;
        uint64_t images_size;
    } header;

    if (size < sizeof(header))
        return false;
    memcpy(&header, data, sizeof(header));
    return memcmp(header.magic, magic, MAGIC_SIZE) == 0 &&
           inside(header.header_size, header.images_size, size);
}

static bool cubin_fits(const struct gantry_drv_device *device,
                       const struct gantry_backend_image *image, struct report *report)
{
    uint32_t arch = device->info.arch_number;

    /* A cubin runs on its architecture and on later ones of the same major version. */
    if (image->arch && (image->arch / 10 != arch / 10 || image->arch > arch)) {
        report_add(report, "is for another architecture");
        return false;
    }
    if (!elf_is_whole(image->data, image->size)) {
        report_add(report, "is not a whole ELF file");
        return false;
    }
    return true;
}

bool image_fits(const struct gantry_drv_device *device, enum gantry_entry entry,
                const struct gantry_backend_image *image, struct report *report)
{
    if (image->entry != GANTRY_ENTRY_ALL && image->entry != entry) {
        report_add(report, "holds only another entry");
        return false;
    }
    switch (image->kind) {
    case GANTRY_IMAGE_CUBIN:
        return cubin_fits(device, image, report);
    case GANTRY_IMAGE_FATBIN:
        if (fatbin_is_whole(image->data, image->size))
            return true;
        report_add(report, "is not a whole fatbin");
        return false;
    case GANTRY_IMAGE_PTX:
        return ptx_fits(device, image, report);
    case GANTRY_IMAGE_SOURCE:
        return true;
    default:
        report_add(report, "is not for CUDA");
        return false;
    }
}
